#!lua
-- Returns the write under a client's idempotency key, and touches the game, so that a WAIT after this script waits for
-- that write.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  the write under the client's idempotency key
-- ARGV[1]  seconds for the game to live
--
-- Returns {value} of KEYS[3], or nil.

local prior = redis.call('GET', KEYS[3])
if not prior then
  return nil
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[1])
return {prior}
