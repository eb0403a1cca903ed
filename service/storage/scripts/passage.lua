#!lua flags=no-writes
-- Finds the events of a game that follow a version.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- ARGV[1]  the version after which they are wanted
-- ARGV[2]  how many at most
--
-- Returns {version of the game, version of the first event, event, …}, beginning with the oldest one kept;
-- nil if there is no such game. A block that holds the first of them is given whole, and so stands before it: the
-- version is then that of the first event in the block. Versions are small here: a double is exact up to 2^53.

local newest = tonumber(string.match(redis.call('GETRANGE', KEYS[1], 0, 20), '^(%d+) '))
if not newest then
  return nil
end

local oldest = newest - redis.call('LLEN', KEYS[2]) + 1
local wanted = tonumber(ARGV[1]) + 1
if wanted <= oldest then
  local head = redis.call('LINDEX', KEYS[2], 0)
  local held = head and tonumber(string.match(head, '^%*(%d+):'))
  if held then
    return {newest, oldest - held + 1, head, unpack(redis.call('LRANGE', KEYS[2], 1, ARGV[2]))}
  end
end

local first = math.max(wanted, oldest)
local from = first - newest - 1
if from >= 0 then
  return {newest, newest + 1}
end
local to = math.min(from + tonumber(ARGV[2]) - 1, -1)
return {newest, first, unpack(redis.call('LRANGE', KEYS[2], from, to))}
