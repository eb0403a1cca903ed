#!lua flags=no-writes
-- Returns the recently deleted games.
--
-- KEYS[…]  sorted sets  the recently deleted games of some shards, by the time of the deletion in ms since 1970
-- ARGV[1]  the age in ms up to which a deletion counts as recent
--
-- Returns {game, …}.

-- Most runs find nothing, so this check makes them cheap.
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
