#!lua
-- The games that are due to an endpoint, the earliest first.
--
-- KEYS[1]  sorted set  the games with messages for it, by when they are due, in ms since 1970
-- KEYS[2]  hash        by game: the version up to which it knows the game
-- KEYS[3]  hash        by game: failed attempts
-- KEYS[4]  hash        by game: what the index knows of it, beginning with the version
-- ARGV[1]  the current time
-- ARGV[2]  how many games at most
--
-- Returns {game, when it is due, version that the endpoint knows, version that the index knows, failures, …}.
-- Changes nothing.

local due = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
local result = {}
for i = 1, #due, 2 do
  local game = due[i]
  result[#result + 1] = game
  result[#result + 1] = due[i + 1]
  result[#result + 1] = redis.call('HGET', KEYS[2], game) or '0'
  result[#result + 1] = string.match(redis.call('HGET', KEYS[4], game) or '0', '^%d+')
  result[#result + 1] = redis.call('HGET', KEYS[3], game) or '0'
end
return result
