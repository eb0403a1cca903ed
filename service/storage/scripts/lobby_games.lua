#!lua flags=no-writes
-- Returns the newest games of the lobby (script "lobby").
--
-- KEYS[1]  hash        the entries of the lobby
-- KEYS[2]  sorted set  the games that are listed, by when they were created
-- ARGV[1]  how many at most
--
-- Returns the JSON of each. Of games whose entry has ended and is still stored, as many are left out.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = {}
for _, game in ipairs(redis.call('ZRANGE', KEYS[2], 0, 2 * ARGV[1] - 1, 'REV')) do
  local ends, json = string.match(redis.call('HGET', KEYS[1], game) or '', '^%d+ (%d+) %S+\n(.*)$')
  if ends and tonumber(ends) > now and #found < tonumber(ARGV[1]) then
    found[#found + 1] = json
  end
end
return found
