#!lua
-- Notes that a person of an application is to be erased, and makes the application due.
--
-- KEYS[1]  sorted set  the people of the application who are to be erased, by when that was asked for last, in ms
-- KEYS[2]  sorted set  the applications of the shard with such people, by when they are due, in ms since 1970
-- ARGV[1]  the id of the application
-- ARGV[2]  the ref of the person
-- ARGV[3]  how many people at most
--
-- Returns 1 when noted, 0 if there are too many. A person who is noted already gets another, later time, by which
-- the process at work sees that there was another request.
-- Times are small here: a double is exact up to 2^53.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not before and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('ZADD', KEYS[1], math.max(now, before and before + 1 or 0), ARGV[2])
-- Also in place of a lease: its holder does not remove the application at its end.
redis.call('ZADD', KEYS[2], now, ARGV[1])
return 1
