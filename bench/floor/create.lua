#!lua
-- KEYS[1]  string  "<version> <value>"        ARGV[1]  the value of KEYS[1]
-- KEYS[2]  list    events                     ARGV[2]  seconds to live
--                                             ARGV[3]  the first event
redis.call('DEL', KEYS[2])
redis.call('RPUSH', KEYS[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
