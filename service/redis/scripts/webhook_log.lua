#!lua
-- Keeps an attempt to deliver a message.
--
-- KEYS[1]  list  the last attempts, the newest first
-- ARGV[1]  the attempt
-- ARGV[2]  how many are kept
-- ARGV[3]  for how many seconds: an attempt may end when its endpoint has been deleted
--
-- Returns 1.

redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
