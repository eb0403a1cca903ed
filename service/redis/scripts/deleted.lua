#!lua flags=no-writes
-- Returns the games that were deleted lately.
--
-- KEYS[…]  sorted sets  the games of some shards that were deleted lately, by when, in ms since 1970
-- ARGV[1]  within how many ms
--
-- Returns {game, …}.

-- Most runs find nothing, so what they do is cheap.
if redis.call('EXISTS', unpack(KEYS)) == 0 then
  return {}
end
local time = redis.call('TIME')
local from = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1]
local games = {}
for _, key in ipairs(KEYS) do
  for _, game in ipairs(redis.call('ZRANGE', key, from, '+inf', 'BYSCORE')) do
    games[#games + 1] = game
  end
end
return games
