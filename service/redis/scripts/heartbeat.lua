#!lua
-- Notes that players can move now, and with it when the last outage ended and until when its allowance is.
--
-- KEYS[1] string  the heartbeat "<last> <since> <until>" in ms: when somebody last ran this script, when it ran again
--                 after the last outage, and until when its allowance is
-- ARGV[1]  the longest time without this script that is no outage, in ms
-- ARGV[2]  the longest allowance after an outage, in ms
-- ARGV[3]  the age of the string from which it is written again, in ms
--
-- Returns the heartbeat. Times are small here: a double is exact up to 2^53.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local heartbeat = redis.call('GET', KEYS[1])
local last, since, allowed = string.match(heartbeat or '', '^(%d+) (%d+) (%d+)$')
local found = last
last, since, allowed = tonumber(last or now), tonumber(since or 0), tonumber(allowed or 0)
local gap = now - last
if gap > tonumber(ARGV[1]) then
  since, allowed = now, now + math.min(math.max(allowed - last, 0) + gap, tonumber(ARGV[2]))
end
if not found or math.abs(gap) >= tonumber(ARGV[3]) then
  heartbeat = string.format('%.0f %.0f %.0f', now, since, allowed)
  redis.call('SET', KEYS[1], heartbeat)
end
return heartbeat
