#!lua flags=no-writes
-- Returns a page of the games of an application.
--
-- KEYS[1]  hash        the entries of the index (script "index")
-- KEYS[2]  sorted set  the list of games, whose scores are its order
-- ARGV[1]  1 for the highest score first, 0 for the lowest
-- ARGV[2]  the score of the last game of the previous page, empty for the first page
-- ARGV[3]  the id of that game, empty for the first page
-- ARGV[4]  the maximum of games to return
-- ARGV[5]  the maximum of games to examine
-- ARGV[6]  the longest life of a game in seconds
-- ARGV[7]  selects games with a later last write, in ms since 1970
-- ARGV[8]  selects games by status, separated by commas; empty for any
-- ARGV[9]  selects games by variant; empty for any
-- ARGV[10] selects games by the digest of their ref; empty for any
--
-- Returns {score and id of the last game that was examined, then for each game its summary and the time at which it
-- expires}. The first two are empty on the last page.
-- Times are small enough for exact doubles (2^53).

local reverse = ARGV[1] == '1'
local limit, most = tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local after = math.max(tonumber(ARGV[7]), now - ARGV[6] * 1000)

local statuses = ',' .. ARGV[8] .. ','
local low, high = '-inf', '+inf'
if reverse then
  low = string.format('(%.0f', after)
end
if ARGV[2] ~= '' then
  if reverse then
    high = ARGV[2]
  else
    low = ARGV[2]
  end
end
local last_score, last_game = tonumber(ARGV[2]), ARGV[3]

local function is_past(score, game)
  if score ~= last_score then
    return false
  end
  if reverse then
    return game >= last_game
  end
  return game <= last_game
end

local function fits(entry)
  local updated, status, variant, ref, ends = string.match(
    entry, '^%d+ %S+ (%d+) (%S+) (%S+) (%S+) %S+ %d+ (%d+)')
  return tonumber(updated) > after and tonumber(ends) > now and (ARGV[8] == '' or string.find(statuses, ',' .. status .. ',', 1, true)) and (ARGV[9] == '' or ARGV[9] == variant)
    and (ARGV[10] == '' or ARGV[10] == ref), ends
end

local page = {'', ''}
local offset, looked, score, game = 0, 0, nil, nil
while true do
  local batch
  if reverse then
    batch = redis.call('ZRANGE', KEYS[2], high, low, 'BYSCORE', 'REV', 'LIMIT', offset, limit + 1, 'WITHSCORES')
  else
    batch = redis.call('ZRANGE', KEYS[2], low, high, 'BYSCORE', 'LIMIT', offset, limit + 1, 'WITHSCORES')
  end
  for i = 1, #batch, 2 do
    if not is_past(tonumber(batch[i + 1]), batch[i]) then
      if looked == most or #page == 2 + 2 * limit then
        page[1], page[2] = score, game
        return page
      end
      game, score, looked = batch[i], batch[i + 1], looked + 1
      local entry = redis.call('HGET', KEYS[1], game)
      local fit, ends
      if entry then
        fit, ends = fits(entry)
      end
      if fit then
        page[#page + 1] = string.sub(entry, string.find(entry, '\n', 1, true) + 1)
        page[#page + 1] = ends
      end
    end
  end
  if #batch < 2 * (limit + 1) then
    return page
  end
  offset = offset + limit + 1
end
