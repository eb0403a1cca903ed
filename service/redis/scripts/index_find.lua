#!lua flags=no-writes
-- Returns a page of the games of an application.
--
-- KEYS[1]  hash        the entries of the index (script "index")
-- KEYS[2]  sorted set  the games that are listed, by the score of their order
-- ARGV[1]  1 for the highest score first, 0 for the lowest
-- ARGV[2]  the score, and
-- ARGV[3]  the id of the last game of the page before; both empty for the first page
-- ARGV[4]  how many games at most
-- ARGV[5]  how many games are looked at at most
-- ARGV[6]  seconds that a game lives at most
-- ARGV[7]  the time after which the last write must be, in ms since 1970
-- ARGV[8]  the statuses, with commas between them,
-- ARGV[9]  the variant, and
-- ARGV[10] the digest of the ref of the games; each empty for any
--
-- Returns {score, id of the last game that was looked at, summary, time at which the game expires, …}; the first two
-- are empty on the last page.
-- Times are small here: a double is exact up to 2^53.

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
