#!lua flags=no-writes
-- Returns events of a game by their versions.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- ARGV[…]  the requested versions, in any order
--
-- Returns an entry for each requested version, in that order, nil for one that is not stored. If one of them may be in
-- a block: {version of the game, entry, …} with all entries, in which the caller finds the events.
--
-- The newest event has the version of the game, so indexes are counted from the end of the list. They stay correct if
-- old events are dropped. Versions are small enough for exact doubles (2^53).

local newest = tonumber(string.match(redis.call('GETRANGE', KEYS[1], 0, 20), '^(%d+) '))
local length = redis.call('LLEN', KEYS[2])
local entries = {}
for i, version in ipairs(ARGV) do
  local index = newest and tonumber(version) - newest - 1 or 0
  entries[i] = index < 0 and redis.call('LINDEX', KEYS[2], index)
  if index < 0 and index <= -length and string.sub(redis.call('LINDEX', KEYS[2], 0) or '', 1, 1) == '*' then
    return {newest, unpack(redis.call('LRANGE', KEYS[2], 0, -1))}
  end
end
return entries
