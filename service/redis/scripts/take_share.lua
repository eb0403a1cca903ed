#!lua
-- Adds bytes to the count of a tenant, unless that would exceed a maximum.
--
-- KEYS[1]  string  the count
-- ARGV[1]  the bytes to add; negative to subtract
-- ARGV[2]  the maximum; empty for none
-- ARGV[3]  seconds until the count expires
--
-- Returns 1 when done; 0, without a change, if the maximum would be exceeded. Counts are small enough for exact doubles
-- (2^53).

local count = tonumber(redis.call('GET', KEYS[1]) or 0)
local after = math.max(count + ARGV[1], 0)
if ARGV[2] ~= '' and after > tonumber(ARGV[2]) then
  return 0
end
redis.call('SET', KEYS[1], string.format('%.0f', after), 'EX', ARGV[3])
return 1
