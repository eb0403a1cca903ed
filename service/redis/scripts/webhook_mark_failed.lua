#!lua
-- Defers a game after a failed attempt to notify an endpoint of it, and stores the attempt.
--
-- KEYS[1]  sorted set  the games with messages for the endpoint, by the time at which they are due, in ms since 1970
-- KEYS[2]  list        its last attempts, the newest first
-- KEYS[3]  hash        by game: failed attempts
-- ARGV[1]  the id of the game
-- ARGV[2]  the time at which it is due again
-- ARGV[3]  the number to add to its failures: 0 or 1
-- ARGV[4]  the attempt; empty if there was none
-- ARGV[5]  the number of attempts to keep
-- ARGV[6]  seconds until attempts and failures expire
--
-- Returns 1. Changes nothing if the game is not due any more.

if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 1
end
if ARGV[4] ~= '' then
  redis.call('LPUSH', KEYS[2], ARGV[4])
  redis.call('LTRIM', KEYS[2], 0, ARGV[5] - 1)
  redis.call('EXPIRE', KEYS[2], ARGV[6])
end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
if ARGV[3] ~= '0' then
  redis.call('HINCRBY', KEYS[3], ARGV[1], ARGV[3])
  redis.call('EXPIRE', KEYS[3], ARGV[6])
end
return 1
