#!lua flags=no-writes
-- Finds events of a game by their versions.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- ARGV[…]  the versions asked for, in any order
--
-- Returns one entry a version asked for, in that order, nil for one that is not kept. Where one of them may be in a
-- block: {version of the game, entry, …} with all entries, so that the caller finds them in it.
--
-- The newest event has the version of the game, so places are counted from the end of the list: they
-- stay right if old events are ever dropped. Versions are small here: a double is exact up to 2^53.

local newest = tonumber(string.match(redis.call('GETRANGE', KEYS[1], 0, 20), '^(%d+) '))
local length = redis.call('LLEN', KEYS[2])
local found = {}
for i, version in ipairs(ARGV) do
  local place = newest and tonumber(version) - newest - 1 or 0
  found[i] = place < 0 and redis.call('LINDEX', KEYS[2], place)
  if place < 0 and place <= -length and string.sub(redis.call('LINDEX', KEYS[2], 0) or '', 1, 1) == '*' then
    return {newest, unpack(redis.call('LRANGE', KEYS[2], 0, -1))}
  end
end
return found
