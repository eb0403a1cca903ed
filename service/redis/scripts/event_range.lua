#!lua flags=no-writes
-- Returns the events of a game that follow a version.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- ARGV[1]  the version before the first event
-- ARGV[2]  the maximum of events
--
-- Returns {version of the game, version of the first event, entry, …}; nil if the game does not exist. If older events
-- were dropped, the first event is the oldest one that is stored. If it is in a block, all entries are returned, with
-- nil for its version; the caller counts the events back from the version of the game.
-- Versions are small enough for exact doubles (2^53).

local newest = tonumber(string.match(redis.call('GETRANGE', KEYS[1], 0, 20), '^(%d+) '))
if not newest then
  return nil
end

local length = redis.call('LLEN', KEYS[2])
local wanted = tonumber(ARGV[1]) + 1
if wanted <= newest - length + 1 and string.sub(redis.call('LINDEX', KEYS[2], 0) or '', 1, 1) == '*' then
  return {newest, false, unpack(redis.call('LRANGE', KEYS[2], 0, -1))}
end

local first = math.max(wanted, newest - length + 1)
local from = first - newest - 1
if from >= 0 then
  return {newest, newest + 1}
end
local to = math.min(from + tonumber(ARGV[2]) - 1, -1)
return {newest, first, unpack(redis.call('LRANGE', KEYS[2], from, to))}
