#!lua
-- Replaces all events of a game but those of its last write by one block, unless the list has changed since it was
-- read.
--
-- KEYS[1]  list    the events of the game, whose expiry stays unchanged
-- ARGV[1]  the number of entries that were read
-- ARGV[2]  the number of entries of the last write
-- ARGV[3]  the first entry of the last write. It begins with the id of the write, so it identifies the history
-- ARGV[4]  the block that replaces the other entries
--
-- Returns 1 when done; 0, without a change, if the list has changed or does not exist any more.

local last = tonumber(ARGV[2])
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) or redis.call('LINDEX', KEYS[1], -last) ~= ARGV[3] then
  return 0
end
redis.call('LSET', KEYS[1], -last - 1, ARGV[4])
redis.call('LTRIM', KEYS[1], -last - 1, -1)
return 1
