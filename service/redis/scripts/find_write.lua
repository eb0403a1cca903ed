#!lua
-- Returns the write under a client's idempotency key, and writes the game, or its tombstone, again as it is, with the
-- life that it has left, so that a WAIT after this script waits for that write.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  the write under the client's idempotency key
--
-- Returns {value} of KEYS[3], or nil.

local prior = redis.call('GET', KEYS[3])
if not prior then
  return nil
end
local value = redis.call('GET', KEYS[1])
if value then
  redis.call('SET', KEYS[1], value, 'KEEPTTL')
end
return {prior}
