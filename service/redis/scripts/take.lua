#!lua
-- Leases due games: they are due again at the end of the lease.
--
-- KEYS[1]  string       the heartbeat of the games of these sets (script "heartbeat")
-- KEYS[2…] sorted sets  tenants, by the time of their next turn in ms since 1970, which is not later than their first
--                  game is due; with a colon and a tenant after the name: the games of the tenant, by the time at which
--                  they are due. Or things without tenants, by the time at which they are due. A set can be given
--                  several times, with different tenants
-- ARGV[1]  the length of a lease in ms
-- ARGV[2]  1 if the sets are of tenants, else 0
-- ARGV[3…] for each set: the tenant, and the maximum of its games to lease
--
-- Returns what was leased as the script "due" does: for each set the tenant, the score of its leased games, the time of
-- the games in ms, the heartbeat, and {game, score at which it was due, …}.
-- The next turn of a tenant that got a lease is now or later, so that other tenants of the shard come first.
-- Times are small enough for exact doubles (2^53).

local time = redis.call('TIME')
local heartbeat = redis.call('GET', KEYS[1])
local last, ahead = string.match(heartbeat or '', '^(%d+) %d+ %d+ ?(%d*)$')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000) + (tonumber(ahead) or 0), tonumber(last) or 0)
-- The fraction distinguishes a lease from all other scores.
local leased = string.format('%.1f', now + tonumber(ARGV[1]) + 0.5)
local has_tenants = ARGV[2] == '1'

local taken = {}
for i = 2, #KEYS do
  local set, tenant, count = KEYS[i], ARGV[2 * i - 1], ARGV[2 * i]
  local games = has_tenants and set .. ':' .. tenant or set
  local due = redis.call('ZRANGE', games, '-inf', now, 'BYSCORE', 'LIMIT', 0, count, 'WITHSCORES')
  for j = 1, #due, 2 do
    redis.call('ZADD', games, leased, due[j])
  end
  if has_tenants and #due > 0 then
    local first = redis.call('ZRANGE', games, 0, 0, 'WITHSCORES')[2]
    redis.call('ZADD', set, tonumber(first) > now and first or string.format('%.0f', now), tenant)
  end
  for _, value in ipairs({tenant, leased, now, heartbeat, due}) do
    taken[#taken + 1] = value
  end
end
return taken
