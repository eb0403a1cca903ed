#!lua
-- Finds what was made under a client's key, and touches the game, so that a WAIT behind this script waits for it.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  what was made under the key
-- ARGV[1]  seconds for the game to live
--
-- Returns {value} of KEYS[3], or nil.

local kept = redis.call('GET', KEYS[3])
if not kept then
  return nil
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[1])
return {kept}
