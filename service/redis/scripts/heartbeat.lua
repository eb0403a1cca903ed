#!lua
-- Records that players can move now, and the end and the allowance of the last outage.
--
-- KEYS[1] string  the heartbeat "<last> <since> <until> <ahead>" in ms. <last> is the last run of this script, <since>
--                 its first run after the last outage, <until> the end of the allowance after that outage, and <ahead>
--                 the time by which the time of games is ahead of the clock of this server
-- ARGV[1]  the longest time between two runs that does not count as an outage, in ms
-- ARGV[2]  the longest allowance after an outage, in ms
-- ARGV[3]  the age from which the heartbeat is written again, in ms
--
-- If the clock is set back, or a failover leads to a server whose clock is behind, the time of games continues from the
-- last heartbeat. Otherwise all reminders would wait until the clock has caught up. Afterwards, the time of games
-- approaches the clock by 2 ms a second, which is less than processes tolerate between two measurements.
--
-- Returns the heartbeat. Times are small enough for exact doubles (2^53).

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
