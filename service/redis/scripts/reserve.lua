#!lua
-- Stores a value unless there is one. An existing value is written again unchanged, with its remaining time to live, so
-- that a WAIT after this script waits until a replica has it. Otherwise a failover could lose a value that a repeated
-- request was already answered with.
--
-- KEYS[1]  string  the value
-- ARGV[1]  the new value
-- ARGV[2]  seconds until it expires
--
-- Returns {the stored value}.

local first = redis.call('GET', KEYS[1])
if first then
  redis.call('SET', KEYS[1], first, 'KEEPTTL')
  return {first}
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return {ARGV[1]}
