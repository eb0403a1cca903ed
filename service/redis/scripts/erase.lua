#!lua
-- Requests the erasure of a person of an application, and makes the application due.
--
-- KEYS[1]  sorted set  the pending erasures of the application by ref, by the time of the last request in ms since 1970
-- KEYS[2]  sorted set  the applications of the shard with pending erasures, by the time at which they are due
-- ARGV[1]  the id of the application
-- ARGV[2]  the ref of the person
-- ARGV[3]  the maximum of pending erasures
--
-- Returns 1 when done, 0 if too many others are pending. A repeated request sets a later time, by which the process
-- that erases sees that there was another request.
-- Times are small enough for exact doubles (2^53).

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not before and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('ZADD', KEYS[1], math.max(now, before and before + 1 or 0), ARGV[2])
-- This also ends a lease: the process that has it cannot remove the application then.
redis.call('ZADD', KEYS[2], now, ARGV[1])
return 1
