#!lua
-- Tells what is due: the tenants of games, with how many of theirs; or how many without tenants.
--
-- KEYS[1]  string       the heartbeat of the games of these sets (script "heartbeat")
-- KEYS[2…] sorted sets  tenants by when they are next to be served, in ms since 1970, not later than their first game is
--                  due; behind the name, a colon and a tenant: the games of the tenant by when they are due. Or things
--                  without tenants by when they are due
-- ARGV[1]  how many tenants of each set at most; 0 for sets without tenants
--
-- Returns {number of the set from 1, tenant, how many of its games are due, since when it waits, …}. A tenant without
-- any is put off to when the first is due, or removed if it has none.
-- Times are small here: a double is exact up to 2^53.

local time = redis.call('TIME')
local heartbeat = redis.call('GET', KEYS[1])
local last, ahead = string.match(heartbeat or '', '^(%d+) %d+ %d+ ?(%d*)$')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000) + (tonumber(ahead) or 0), tonumber(last) or 0)

-- Most runs find nothing, so what they do is cheap: usually, there is no reminder of this kind at all.
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
