#!lua flags=no-writes
-- Returns items of the feed of an application, and the summaries of their games.
--
-- KEYS[1]  stream  the feed
-- KEYS[2]  hash    the entries of the index (script "index")
-- ARGV[1]  the cursor before the first item; empty for the oldest items
-- ARGV[2]  the maximum of items
--
-- Returns {cursor of the oldest item, cursor of the newest item, number of stored items, number of items ever added,
-- {cursor, game, item, …}, {game, summary, …}}. The cursors are "0-0" for an empty feed. The newest item counts even if
-- it is not stored any more.

if redis.call('EXISTS', KEYS[1]) == 0 then
  return {'0-0', '0-0', 0, 0, {}, {}}
end

local info = redis.call('XINFO', 'STREAM', KEYS[1])
local about = {}
for i = 1, #info, 2 do
  about[info[i]] = info[i + 1]
end
local oldest = about['first-entry'] and about['first-entry'][1] or '0-0'

local items, summaries, seen = {}, {}, {}
if tonumber(ARGV[2]) > 0 then
  local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
  for _, each in ipairs(redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', ARGV[2])) do
    local item, game = each[2][2], each[2][4]
    items[#items + 1] = each[1]
    items[#items + 1] = game
    items[#items + 1] = item
    if not seen[game] then
      seen[game] = true
      local entry = redis.call('HGET', KEYS[2], game)
      if entry then
        summaries[#summaries + 1] = game
        summaries[#summaries + 1] = string.match(entry, '\n(.*)$')
      end
    end
  end
end
return {oldest, about['last-generated-id'], about['length'], about['entries-added'], items, summaries}
