#!lua
-- Notes a game from which a player was erased. May be run again.
--
-- KEYS[1]  sorted set  the games of the shard that were deleted lately, by when, in ms since 1970
-- ARGV[1]  what stands for the game there
-- ARGV[2]  for how long it does, in ms
--
-- Returns 1.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
