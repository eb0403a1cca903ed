#!lua
-- Keeps a new game.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  what was made under the client's key; left out without one
-- ARGV[1]  the whole value of KEYS[1]: "<version> <state>"
-- ARGV[2]  seconds to live
-- ARGV[3]  "<id of this write> "
-- ARGV[4]  the value for KEYS[3], and
-- ARGV[5]  the seconds it lives; both empty without one
-- ARGV[6…] the events, oldest first, each behind "<id> "
--
-- Returns 1 when the game is kept, also when an earlier sending of this write did it; {value} of KEYS[3] if it was
-- made under the client's key before; 0 when there is another game under these keys, or one whose first write cannot be
-- told any more. Only the first changes anything. What was made before is touched, so that a WAIT behind this script
-- waits for it.

if redis.call('EXISTS', KEYS[1]) == 1 then
  local first = redis.call('LINDEX', KEYS[2], 0)
  local own = first and string.sub(first, 1, #ARGV[3]) == ARGV[3]
  local kept = not own and KEYS[3] and redis.call('GET', KEYS[3])
  if not own and not kept then
    return 0
  end
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  redis.call('EXPIRE', KEYS[2], ARGV[2])
  return own and 1 or {kept}
end

redis.call('DEL', KEYS[2])
for i = 6, #ARGV do
  redis.call('RPUSH', KEYS[2], ARGV[i])
end
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
if KEYS[3] then
  redis.call('SET', KEYS[3], ARGV[4], 'EX', ARGV[5])
end
return 1
