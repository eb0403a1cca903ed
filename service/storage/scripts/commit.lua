#!lua
-- Replaces the state of a game if it is still at the expected version, appends what happened, and tells who listens.
--
-- KEYS[1]  string  the version and state of the game; also the channel of its news
-- KEYS[2]  list    its events
-- KEYS[3]  string  what was made under the client's key; left out without one
-- ARGV[1]  what KEYS[1] must begin with: "<expected version> <beginning of the expected state>"
-- ARGV[2]  the whole new value of KEYS[1]: "<new version> <state>"
-- ARGV[3]  seconds to live, from now
-- ARGV[4]  "<id of this write> "
-- ARGV[5]  the value for KEYS[3], and
-- ARGV[6]  the seconds it lives; both empty without one
-- ARGV[7]  1 if an earlier sending may have done it, else 0
-- ARGV[8…] the new events, oldest first, each behind "<id> "
--
-- Returns 1 when done, also when an earlier sending of this write did it; {value} of KEYS[3] if something else was
-- made under the client's key; the true value of KEYS[1] if the game has moved on; 0 if it has, and compaction has
-- removed what would tell whether an earlier sending did that; nil if it is gone. Only the first changes the game. What was made before is
-- touched, so that a WAIT behind this script waits for it.

local function touch()
  redis.call('EXPIRE', KEYS[1], ARGV[3])
  redis.call('EXPIRE', KEYS[2], ARGV[3])
end

if KEYS[3] then
  local kept = redis.call('GET', KEYS[3])
  if kept then
    touch()
    if string.sub(kept, 1, #ARGV[4]) == ARGV[4] then
      return 1
    end
    return {kept}
  end
end

if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then
  local value = redis.call('GET', KEYS[1])
  -- The event after the expected version tells whose write came first: perhaps this one, whose answer was lost.
  -- Versions are small here: a double is exact up to 2^53.
  local newest = value and tonumber(string.match(value, '^(%d+) '))
  local place = newest and tonumber(string.match(ARGV[1], '^%d+')) - newest or 0
  local next = place < 0 and redis.call('LINDEX', KEYS[2], place)
  if next and string.sub(next, 1, #ARGV[4]) == ARGV[4] then
    touch()
    return 1
  end
  -- Compacted events have no ids. But what was made under a client's key would have been found there.
  if ARGV[7] == '1' and not KEYS[3] and place < 0 and place <= -redis.call('LLEN', KEYS[2]) then
    local head = redis.call('LINDEX', KEYS[2], 0)
    if head and string.match(head, '^%*') then
      return 0
    end
  end
  return value
end

-- The events go first: should their key be spoilt, the script ends here and the state stays as it was.
for i = 8, #ARGV do
  redis.call('RPUSH', KEYS[2], ARGV[i])
end
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
if KEYS[3] then
  redis.call('SET', KEYS[3], ARGV[5], 'EX', ARGV[6])
end
-- News are only a hint: a server that forbids them has made the write all the same.
redis.pcall('SPUBLISH', KEYS[1], string.match(ARGV[1], '^%d+ ') .. table.concat(ARGV, '\n', 8))
return 1
