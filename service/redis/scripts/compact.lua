#!lua
-- Replaces all events of a game but those of its last write by one block, if the list is still as it was read.
--
-- KEYS[1]  list    the events of the game; its expiry stays as it is
-- ARGV[1]  how many entries it had
-- ARGV[2]  how many of them were of the last write, and
-- ARGV[3]  the first of those, which begins with the id of the write: no other history has it
-- ARGV[4]  the block that replaces all others
--
-- Returns 1 when done; 0 if the list has changed or is gone. Only the first changes anything.

local last = tonumber(ARGV[2])
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) or redis.call('LINDEX', KEYS[1], -last) ~= ARGV[3] then
  return 0
end
redis.call('LSET', KEYS[1], -last - 1, ARGV[4])
redis.call('LTRIM', KEYS[1], -last - 1, -1)
return 1
