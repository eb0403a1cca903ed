#!lua flags=no-writes
-- Returns a page of a list of a lobby (script "lobby"), the newest games first.
--
-- KEYS[1]  hash        the entries of the lobby
-- KEYS[2]  sorted set  the list, by when the games were created
-- ARGV[1]  when the last game of the page before was created, and
-- ARGV[2]  its id; both empty for the first page
-- ARGV[3]  how many games at most
-- ARGV[4]  how many games are looked at at most; those whose entry has ended and is still stored are left out
--
-- Returns {when the last game that was looked at was created, its id, JSON, …}; the first two are empty on the last
-- page.

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
