#!lua flags=no-writes
-- Returns a page of a list of a lobby (script "lobby"), the newest games first.
--
-- KEYS[1]  hash        the entries of the lobby
-- KEYS[2]  sorted set  the list, by the time at which the games were created
-- ARGV[1]  the time of the creation of the last game of the previous page, empty for the first page
-- ARGV[2]  the id of that game, empty for the first page
-- ARGV[3]  the maximum of games to return
-- ARGV[4]  the maximum of games to examine, including those with an expired entry, which are not returned
--
-- Returns {time of the creation and id of the last game that was examined, then the JSON of each game}. The first two
-- are empty on the last page.

local limit, most = tonumber(ARGV[3]), tonumber(ARGV[4])
local last_created, last_game = tonumber(ARGV[1]), ARGV[2]
local high = last_created and ARGV[1] or '+inf'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local page = {'', ''}
local offset, looked, created, game = 0, 0, nil, nil
while true do
  local batch = redis.call(
    'ZRANGE', KEYS[2], high, '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, limit + 1, 'WITHSCORES')
  for i = 1, #batch, 2 do
    if tonumber(batch[i + 1]) ~= last_created or batch[i] < last_game then
      if looked == most or #page == 2 + limit then
        page[1], page[2] = created, game
        return page
      end
      game, created, looked = batch[i], batch[i + 1], looked + 1
      local ends, json = string.match(redis.call('HGET', KEYS[1], game) or '', '^%d+ (%d+) [^\n]*\n(.*)$')
      if ends and tonumber(ends) > now then
        page[#page + 1] = json
      end
    end
  end
  if #batch < 2 * (limit + 1) then
    return page
  end
  offset = offset + limit + 1
end
