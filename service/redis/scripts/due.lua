#!lua
-- Returns the tenants with due games, and the number of these games; for sets without tenants only the number.
--
-- KEYS[1]  string       the heartbeat of the games of these sets (script "heartbeat")
-- KEYS[2…] sorted sets  tenants, by the time of their next turn in ms since 1970, which is not later than their first
--                  game is due; with a colon and a tenant after the name: the games of the tenant, by the time at which
--                  they are due. Or things without tenants, by the time at which they are due
-- ARGV[1]  the maximum of tenants of each set; 0 for sets without tenants
--
-- Returns for each tenant {number of the set, from 1; tenant; number of due games; time since which it waits}, in one
-- list. A tenant without due games gets the time of its next due game as its score, or is removed if it has no games.
-- Times are small enough for exact doubles (2^53).

local time = redis.call('TIME')
local heartbeat = redis.call('GET', KEYS[1])
local last, ahead = string.match(heartbeat or '', '^(%d+) %d+ %d+ ?(%d*)$')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000) + (tonumber(ahead) or 0), tonumber(last) or 0)

-- Most runs find nothing, so this check makes them cheap: usually there is no reminder of this kind at all.
local result = {}
if redis.call('EXISTS', unpack(KEYS, 2)) == 0 then
  return result
end

local function add(...)
  for _, value in ipairs({...}) do
    result[#result + 1] = value
  end
end

for i = 2, #KEYS do
  if ARGV[1] == '0' then
    local count = redis.call('ZCOUNT', KEYS[i], '-inf', now)
    if count > 0 then
      add(i - 1, '', count, redis.call('ZRANGE', KEYS[i], 0, 0, 'WITHSCORES')[2])
    end
  else
    local tenants = redis.call('ZRANGE', KEYS[i], '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[1], 'WITHSCORES')
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
  end
end
return result
