#!lua
-- Notes that players can move now, and with it when the last outage ended and until when its allowance is.
--
-- KEYS[1] string  the heartbeat "<last> <since> <until> <ahead>" in ms: when somebody last ran this script, when it ran
--                 again after the last outage, until when its allowance is, and by how much the time of games is ahead
--                 of the clock of this server
-- ARGV[1]  the longest time without this script that is no outage, in ms
-- ARGV[2]  the longest allowance after an outage, in ms
-- ARGV[3]  the age of the string from which it is written again, in ms
--
-- If somebody sets the clock back, or the clock of a server that took over is behind, the time of games goes on from the
-- last heartbeat: all that is due would wait otherwise until the clock has caught up. From then on it comes nearer to the
-- clock, by 2 ms a second, which is less than what processes tolerate between two looks at it.
--
-- Returns the heartbeat. Times are small here: a double is exact up to 2^53.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local heartbeat = redis.call('GET', KEYS[1])
local last, since, allowed, ahead = string.match(heartbeat or '', '^(%d+) (%d+) (%d+) ?(%d*)$')
local found = last
last, since, allowed, ahead = tonumber(last or now), tonumber(since or 0), tonumber(allowed or 0), tonumber(ahead) or 0
now = now + ahead
local gap = now - last
local set_back = gap < 0
if set_back then
  now, ahead, gap = last, ahead - gap, 0
end
if gap > tonumber(ARGV[1]) then
  since, allowed = now, now + math.min(math.max(allowed - last, 0) + gap, tonumber(ARGV[2]))
end
if not found or set_back or gap >= tonumber(ARGV[3]) then
  local nearer = math.min(ahead, math.floor(gap / 500))
  heartbeat = string.format('%.0f %.0f %.0f %.0f', now - nearer, since, allowed, ahead - nearer)
  redis.call('SET', KEYS[1], heartbeat)
end
return heartbeat
