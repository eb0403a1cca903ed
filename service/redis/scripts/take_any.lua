#!lua
-- Takes what is due of a kind of reminders without tenants, and makes each of it due again at the end of its lease.
--
-- KEYS[1…] sorted sets  what there are reminders about, by when they are due, in ms since 1970
-- ARGV[1]  the length of a lease in ms
-- ARGV[2]  how many at most, of all sets together
--
-- Returns {score of what is leased, the time in ms, what is due, score at which it was due, …}.
-- Times are small here: a double is exact up to 2^53.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- No write makes anything due at half a millisecond, so none is mistaken for a lease.
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
