#!lua
-- Records a game from which a player was erased. Can be run again.
--
-- KEYS[1]  sorted set  the recently deleted games of the shard, by the time of the deletion in ms since 1970
-- ARGV[1]  the entry for the game
-- ARGV[2]  ms for which the entry stays
--
-- Returns 1.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
