#!lua flags=no-writes
-- Finds events of a game by their versions.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- ARGV[…]  the versions asked for, in any order
--
-- Returns one value a version asked for, in that order: the event, or nil if it is not kept.
--
-- The newest event has the version of the game, so places are counted from the end of the list: they
-- stay right if old events are ever dropped. Versions are small here: a double is exact up to 2^53.

local newest = tonumber(string.match(redis.call('GETRANGE', KEYS[1], 0, 20), '^(%d+) '))
local found = {}
for i, version in ipairs(ARGV) do
  local place = newest and tonumber(version) - newest - 1 or 0
  found[i] = place < 0 and redis.call('LINDEX', KEYS[2], place)
end
return found
