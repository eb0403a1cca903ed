#!lua flags=no-writes
-- Finds events of a game by their versions.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- ARGV[…]  the versions asked for, in any order
--
-- Returns one value a version asked for, in that order: the event; its place in a block, from 0; or nil if it is not
-- kept. Then, if there are such places, the block.
--
-- The newest event has the version of the game, so places are counted from the end of the list: they
-- stay right if old events are ever dropped. Versions are small here: a double is exact up to 2^53.

local newest = tonumber(string.match(redis.call('GETRANGE', KEYS[1], 0, 20), '^(%d+) '))
local length = redis.call('LLEN', KEYS[2])
local head, held
local found = {}
for i, version in ipairs(ARGV) do
  local place = newest and tonumber(version) - newest - 1 or 0
  if place <= -length and not head then
    head = redis.call('LINDEX', KEYS[2], 0) or ''
    held = tonumber(string.match(head, '^%*(%d+):'))
  end
  if held and place <= -length then
    -- The block has the place of the last event in it.
    local inside = place + length + held - 1
    found[i] = inside >= 0 and inside
  else
    found[i] = place < 0 and redis.call('LINDEX', KEYS[2], place)
  end
end
if held then
  found[#ARGV + 1] = head
end
return found
