#!lua
-- Removes games that were due to an endpoint before a time, at most 1000 of them.
--
-- KEYS[1]  sorted set  the games with messages for it, by the time at which they are due, in ms since 1970
-- KEYS[2…] hashes      the other data of the endpoint by game
-- ARGV[1]  the time
--
-- Returns 1.

for _, game in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', '(' .. ARGV[1], 'BYSCORE', 'LIMIT', 0, 1000)) do
  redis.call('ZREM', KEYS[1], game)
  for i = 2, #KEYS do
    redis.call('HDEL', KEYS[i], game)
  end
end
return 1
