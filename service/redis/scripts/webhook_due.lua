#!lua
-- Returns the games that are due to an endpoint, the earliest first. Changes nothing.
--
-- KEYS[1]  sorted set  the games with messages for it, by the time at which they are due, in ms since 1970
-- KEYS[2]  hash        by game: the version up to which the endpoint was notified
-- KEYS[3]  hash        by game: failed attempts
-- KEYS[4]  hash        by game: the entry in the index, which begins with the version
-- ARGV[1]  the current time
-- ARGV[2]  the maximum of games
--
-- Returns for each game {game, time at which it is due, version up to which the endpoint was notified, version in the
-- index, failures}, in one list.

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
