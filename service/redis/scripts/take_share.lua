#!lua
-- Counts bytes of a tenant, unless there would be more than it may have.
--
-- KEYS[1]  string  the bytes that were counted so far
-- ARGV[1]  how many more; negative to count less
-- ARGV[2]  the most; empty to count in any case
-- ARGV[3]  seconds until the count is forgotten
--
-- Returns 1 when done, 0 if it would be more than the most; then nothing is changed. Counts are small here: a double is
-- exact up to 2^53.

local count = tonumber(redis.call('GET', KEYS[1]) or 0)
local after = math.max(count + ARGV[1], 0)
if ARGV[2] ~= '' and after > tonumber(ARGV[2]) then
  return 0
end
redis.call('SET', KEYS[1], string.format('%.0f', after), 'EX', ARGV[3])
return 1
