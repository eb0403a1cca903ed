#!lua
-- Stores a new game.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  the write under the client's idempotency key; left out without one
-- ARGV[1]  the whole value of KEYS[1]: "<version> <state>"
-- ARGV[2]  seconds to live
-- ARGV[3]  "<id of this write> "
-- ARGV[4]  the value for KEYS[3], and
-- ARGV[5]  the seconds it lives; both empty without one
-- ARGV[6…] the events, oldest first, each preceded by "<id> "
--
-- Returns 1 when done, also when an earlier attempt made this write; {value} of KEYS[3] if another write was made under
-- the client's key; 0 if there is another game under these keys, or one whose first write has no id any more. Only the
-- first changes anything. A write that was made earlier is touched, so that a WAIT after this script waits for it.

if redis.call('EXISTS', KEYS[1]) == 1 then
  local first = redis.call('LINDEX', KEYS[2], 0)
  local own = first and string.sub(first, 1, #ARGV[3]) == ARGV[3]
  local prior = not own and KEYS[3] and redis.call('GET', KEYS[3])
  if not own and not prior then
    return 0
  end
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  redis.call('EXPIRE', KEYS[2], ARGV[2])
  return own and 1 or {prior}
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
