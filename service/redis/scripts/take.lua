#!lua
-- Leases due games: they are due again at the end of the lease. Without the arguments from the fourth, it leases some
-- only if all that are due are those of one tenant in one set, and returns how many games are due.
--
-- KEYS[1]  string       the heartbeat of the games of these sets (script "heartbeat")
-- KEYS[2…] sorted sets  tenants, by the time of their next turn in ms since 1970, which is not later than their first
--                  game is due; with a colon and a tenant after the name: the games of the tenant, by the time at which
--                  they are due. Or things without tenants, by the time at which they are due. With the arguments from
--                  the fourth, a set can be given several times, with different tenants
-- ARGV[1]  the length of a lease in ms
-- ARGV[2]  the maximum of tenants of each set; 0 for sets without tenants
-- ARGV[3]  the maximum of games to lease without the following arguments
-- ARGV[4…] for each set: the tenant, and the maximum of its games to lease
--
-- Returns {score of all leased games, time of games in ms, heartbeat, then for each set {game, score at which it was
-- due, …}}. Without the arguments from the fourth, a list precedes this, and is all if no game was leased. It has for
-- each tenant {number of the set, from 1; tenant; number of due games; time since which it waits}.
-- The next turn of a tenant that got a lease is now or later, so that other tenants of the shard come first. A tenant
-- without due games gets the time of its next due game as its score, or is removed if it has no games.
-- Times are small enough for exact doubles (2^53).

local time = redis.call('TIME')
local heartbeat = redis.call('GET', KEYS[1])
local last, ahead = string.match(heartbeat or '', '^(%d+) %d+ %d+ ?(%d*)$')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000) + (tonumber(ahead) or 0), tonumber(last) or 0)
-- The fraction distinguishes a lease from all other scores.
local leased = string.format('%.1f', now + tonumber(ARGV[1]) + 0.5)
local has_tenants = ARGV[2] ~= '0'

local function lease(set, tenant, count)
  local games = has_tenants and set .. ':' .. tenant or set
  local due = redis.call('ZRANGE', games, '-inf', now, 'BYSCORE', 'LIMIT', 0, count, 'WITHSCORES')
  for i = 1, #due, 2 do
    redis.call('ZADD', games, leased, due[i])
  end
  if has_tenants and #due > 0 then
    local first = redis.call('ZRANGE', games, 0, 0, 'WITHSCORES')[2]
    redis.call('ZADD', set, tonumber(first) > now and first or string.format('%.0f', now), tenant)
  end
  return due
end

if #ARGV > 3 then
  local taken = {leased, now, heartbeat}
  for i = 2, #KEYS do
    taken[i + 2] = lease(KEYS[i], ARGV[2 * i], ARGV[2 * i + 1])
  end
  return taken
end

-- Most runs find nothing, so this check makes them cheap: usually there is no reminder of this kind at all.
if redis.call('EXISTS', unpack(KEYS, 2)) == 0 then
  return {{}}
end

local tenants_due = {}
local function add(...)
  for _, value in ipairs({...}) do
    tenants_due[#tenants_due + 1] = value
  end
end

for i = 2, #KEYS do
  if has_tenants then
    local tenants = redis.call('ZRANGE', KEYS[i], '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
    for j = 1, #tenants, 2 do
      local games = KEYS[i] .. ':' .. tenants[j]
      local count = redis.call('ZCOUNT', games, '-inf', now)
      if count > 0 then
        add(i - 1, tenants[j], count, tenants[j + 1])
      else
        local first = redis.call('ZRANGE', games, 0, 0, 'WITHSCORES')[2]
        if first then
          redis.call('ZADD', KEYS[i], first, tenants[j])
        else
          redis.call('ZREM', KEYS[i], tenants[j])
        end
      end
    end
  else
    local count = redis.call('ZCOUNT', KEYS[i], '-inf', now)
    if count > 0 then
      add(i - 1, '', count, redis.call('ZRANGE', KEYS[i], 0, 0, 'WITHSCORES')[2])
    end
  end
end
if #tenants_due ~= 4 or ARGV[3] == '0' then
  return {tenants_due}
end
local place, tenant = unpack(tenants_due)
return {tenants_due, leased, now, heartbeat, lease(KEYS[place + 1], tenant, ARGV[3])}
