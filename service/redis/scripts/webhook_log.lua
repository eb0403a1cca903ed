#!lua
-- Stores a delivery attempt.
--
-- KEYS[1]  list  the last attempts, the newest first
-- ARGV[1]  the attempt
-- ARGV[2]  the number of attempts to keep
-- ARGV[3]  seconds until the list expires. An attempt can end after its endpoint was deleted
--
-- Returns 1.

redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
