#!lua
-- Takes what is due, and makes each of it due again at the end of its lease.
--
-- KEYS[1]  string       the heartbeat of the games of these sets (script "heartbeat")
-- KEYS[2…] sorted sets  as those of the script "due"; one may be there several times
-- ARGV[1]  the length of a lease in ms
-- ARGV[2]  1 for sets of tenants, 0 for sets without
-- ARGV[…]  for each of the sets: the tenant, and how many of its games at most
--
-- Returns {score of what is leased, the time of games in ms, the heartbeat, {game, score at which it was due, …}, …}, with a
-- list for each of the sets.
-- A tenant that was served waits from now on, so that others of the shard are next.
-- Times are small here: a double is exact up to 2^53.

local time = redis.call('TIME')
local heartbeat = redis.call('GET', KEYS[1])
local last, ahead = string.match(heartbeat or '', '^(%d+) %d+ %d+ ?(%d*)$')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000) + (tonumber(ahead) or 0), tonumber(last) or 0)
-- No write makes a game due at half a millisecond, so none is mistaken for a lease.
local leased = string.format('%.1f', now + tonumber(ARGV[1]) + 0.5)

local taken = {leased, now, heartbeat}
for i = 2, #KEYS do
  local set, tenant, count = KEYS[i], ARGV[2 * i - 1], ARGV[2 * i]
  local games = ARGV[2] == '1' and set .. ':' .. tenant or set
  local due = redis.call('ZRANGE', games, '-inf', now, 'BYSCORE', 'LIMIT', 0, count, 'WITHSCORES')
  for j = 1, #due, 2 do
    redis.call('ZADD', games, leased, due[j])
  end
  if ARGV[2] == '1' and #due > 0 then
    local first = redis.call('ZRANGE', games, 0, 0, 'WITHSCORES')[2]
    redis.call('ZADD', set, tonumber(first) > now and first or string.format('%.0f', now), tenant)
  end
  taken[i + 2] = due
end
return taken
