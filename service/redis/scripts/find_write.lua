#!lua
-- Returns the idempotency record of a write. Also writes the game or its tombstone again unchanged, with its remaining
-- time to live, so that a WAIT after this script waits until a replica has it.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  the idempotency record
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
