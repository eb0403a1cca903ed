#!lua
-- KEYS[1]  string  "<version> <value>"        ARGV[1]  what KEYS[1] must begin with: "<version> "
-- KEYS[2]  list    events                     ARGV[2]  the new value of KEYS[1]
--                                             ARGV[3]  seconds to live
--                                             ARGV[4]  the new event
if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then
  return redis.call('GET', KEYS[1])
end
redis.call('RPUSH', KEYS[2], ARGV[4])
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1
