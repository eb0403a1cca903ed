#!lua
-- Leases due reminders of a kind without tenants: they are due again at the end of the lease.
--
-- KEYS[1…] sorted sets  the things with a reminder, by the time at which they are due in ms since 1970
-- ARGV[1]  the length of a lease in ms
-- ARGV[2]  the maximum of things to lease, of all sets together
--
-- Returns {score of all leased things, current time in ms, then for each thing its name and the score at which it was
-- due}.
-- Times are small enough for exact doubles (2^53).

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- The fraction distinguishes a lease from all other scores.
local leased = string.format('%.1f', now + tonumber(ARGV[1]) + 0.5)

local taken = {leased, now}
if redis.call('EXISTS', unpack(KEYS)) == 0 then
  return taken
end
local left = tonumber(ARGV[2])
for _, key in ipairs(KEYS) do
  if left == 0 then
    break
  end
  local due = redis.call('ZRANGE', key, '-inf', now, 'BYSCORE', 'LIMIT', 0, left, 'WITHSCORES')
  for i = 1, #due, 2 do
    redis.call('ZADD', key, leased, due[i])
    taken[#taken + 1] = due[i]
    taken[#taken + 1] = due[i + 1]
  end
  left = left - #due / 2
end
return taken
