#!lua
-- Removes a person who has been erased, unless that was asked for again meanwhile. May be run again.
--
-- KEYS[1]  sorted set  the people of an application who are to be erased, by when that was asked for last, in ms
-- ARGV[1]  the ref of the person
-- ARGV[2]  when it was asked for, as far as the process that erased the person knows
--
-- Returns 1 when done; 0 if it was asked for again, or is done already. Only the first changes anything.

local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at or tonumber(at) ~= tonumber(ARGV[2]) then
  return 0
end
return redis.call('ZREM', KEYS[1], ARGV[1])
