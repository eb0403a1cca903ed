#!lua
-- Extends the lease of a reminder, unless the lease was lost.
--
-- KEYS[1]  sorted set  games, or other things with a reminder, by the time at which they are due, in ms since 1970
-- KEYS[2]  string      the heartbeat of the games of this set (script "heartbeat")
-- ARGV[1]  the game
-- ARGV[2]  its score during the lease
-- ARGV[3]  the length of the new lease in ms
--
-- Returns the new score, nil if the lease was lost: the reminder has another score than ARGV[2].

local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) ~= tonumber(ARGV[2]) then
  return false
end
local time = redis.call('TIME')
local heartbeat = redis.call('GET', KEYS[2])
local last, ahead = string.match(heartbeat or '', '^(%d+) %d+ %d+ ?(%d*)$')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000) + (tonumber(ahead) or 0), tonumber(last) or 0)
-- The fraction distinguishes a lease from all other scores.
local leased = string.format('%.1f', now + tonumber(ARGV[3]) + 0.5)
redis.call('ZADD', KEYS[1], leased, ARGV[1])
return leased
