#!lua
-- Notes that a URL has answered a challenge of an application. May be run again.
--
-- KEYS[1]  sorted set  the URLs that have, by when, in ms since 1970
-- ARGV[1]  what stands for the URL there
-- ARGV[2]  when it has
-- ARGV[3]  how many are kept, those that have last
-- ARGV[4]  for how long, in ms
--
-- Returns 1.

redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -ARGV[3] - 1)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
