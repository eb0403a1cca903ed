#!lua
-- Stores the version up to which an endpoint was notified of a game, and the attempt.
--
-- KEYS[1]  sorted set  the games with messages for it, by the time at which they are due, in ms since 1970
-- KEYS[2]  list        its last attempts, the newest first
-- KEYS[3]  hash        by game: failed attempts
-- KEYS[4]  hash        by game: the version up to which the endpoint was notified
-- ARGV[1]  the id of the game
-- ARGV[2]  the time at which it was due
-- ARGV[3]  the version
-- ARGV[4]  1 if no message is left, else 0
-- ARGV[5]  the attempt; empty if there was none
-- ARGV[6]  the number of attempts to keep
-- ARGV[7]  seconds until the attempts expire
--
-- Returns 1. A game with another score than ARGV[2] has new events, and stays due.

local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score then
  return 1
end
if ARGV[5] ~= '' then
  redis.call('LPUSH', KEYS[2], ARGV[5])
  redis.call('LTRIM', KEYS[2], 0, ARGV[6] - 1)
  redis.call('EXPIRE', KEYS[2], ARGV[7])
end
redis.call('HDEL', KEYS[3], ARGV[1])
if ARGV[4] == '1' and tonumber(score) == tonumber(ARGV[2]) then
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[4], ARGV[1])
elseif tonumber(ARGV[3]) > tonumber(redis.call('HGET', KEYS[4], ARGV[1]) or '0') then
  redis.call('HSET', KEYS[4], ARGV[1], ARGV[3])
end
return 1
