#!lua
-- Replaces a value if it is still the expected one, or deletes it. May be run again with the same arguments.
--
-- KEYS[1]  string
-- ARGV[1]  the expected value
-- ARGV[2]  the new value; empty to delete the key
--
-- Returns 1 when done, now or earlier; 0 if it has another value. Only the first changes anything.

local value = redis.call('GET', KEYS[1])
if value == ARGV[2] or (not value and ARGV[2] == '') then
  return 1
end
if value ~= ARGV[1] then
  return 0
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2])
end
return 1
