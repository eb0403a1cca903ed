#!lua flags=allow-cross-slot-keys
-- Returns how many games are due in those sets of reminders that one primary of a Cluster owns, as the script "take"
-- does for a single server.
--
-- KEYS[1]  sorted set  the first of the sets: its owner runs the script
-- ARGV[1]  the maximum of tenants of each set; 0 for sets without tenants
-- ARGV[2…] for each set: the heartbeat of its shard (script "heartbeat"), and the set (script "take")
--
-- Returns first a list with the numbers of the sets, from 0, that could not be read here, as their slots are moved to
-- another server; then for each tenant the number of the set, the tenant, the number of due games, and the time since
-- which it waits. Writes the next turn of tenants as "take" does.
-- Times are small enough for exact doubles (2^53).

local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local result = {{}}

local function add(...)
  for _, value in ipairs({...}) do
    result[#result + 1] = value
  end
end

local function look(number, heartbeat, set)
  local first = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  if not first then
    return
  end
  local last, ahead = string.match(redis.call('GET', heartbeat) or '', '^(%d+) %d+ %d+ ?(%d*)$')
  local now = math.max(clock + (tonumber(ahead) or 0), tonumber(last) or 0)
  if tonumber(first) > now then
    return
  end
  if ARGV[1] == '0' then
    add(number, '', redis.call('ZCOUNT', set, '-inf', now), first)
    return
  end
  local tenants = redis.call('ZRANGE', set, '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[1], 'WITHSCORES')
  for i = 1, #tenants, 2 do
    local games = set .. ':' .. tenants[i]
    local count = redis.call('ZCOUNT', games, '-inf', now)
    local following = redis.call('ZRANGE', games, 0, 0, 'WITHSCORES')[2]
    if count > 0 then
      add(number, tenants[i], count, tenants[i + 1])
    elseif following then
      redis.call('ZADD', set, following, tenants[i])
    else
      redis.call('ZREM', set, tenants[i])
    end
  end
end

for i = 2, #ARGV, 2 do
  local number = i / 2 - 1
  if not pcall(look, number, ARGV[i], ARGV[i + 1]) then
    table.insert(result[1], number)
  end
end
return result
