#!lua
-- Removes an erasure that was carried out, unless it was requested again. Can be run again.
--
-- KEYS[1]  sorted set  the pending erasures of an application by ref, by the time of the last request in ms since 1970
-- ARGV[1]  the ref of the person
-- ARGV[2]  the time of the request that was carried out
--
-- Returns 1 when done; 0, without a change, if it was requested again or removed before.

local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at or tonumber(at) ~= tonumber(ARGV[2]) then
  return 0
end
return redis.call('ZREM', KEYS[1], ARGV[1])
