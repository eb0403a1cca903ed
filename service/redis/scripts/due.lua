#!lua flags=allow-cross-slot-keys
-- Leases all games that are due in the given sets of reminders, if they are few enough: they are due again at the end
-- of the lease. If they are more, returns how many games are due.
--
-- KEYS[1]  string  the heartbeat of the games of the first set (script "heartbeat"). Its server runs the script and has
--                  all of the sets
-- ARGV[1]  the length of a lease in ms
-- ARGV[2]  the maximum of tenants of each set; 0 for sets without tenants
-- ARGV[3]  the maximum of games to lease
-- ARGV[4]  1 if this server has all slots, and all sets have the same heartbeat; 0 in a Cluster, where a set has the
--          heartbeat with its hash tag, and where a command with keys of several slots returns wrong answers
-- ARGV[5…] the sets (script "take")
--
-- Returns {unread, due, leased}: in unread the numbers of the sets, from 0, that could not be read here, as their slots
-- are moved to another server; in due for each tenant the number of the set, the tenant, the number of due games, and
-- the time since which it waits; in leased for each tenant, which is not in due then, the tenant, the score of its
-- leased games, the time of the games in ms, the heartbeat, and {game, score at which it was due, …}.
-- The next turn of a tenant that got a lease is now or later, so that other tenants of the set come first. A tenant
-- without due games gets the time of its next due game as its score, or is removed if it has no games.
-- Times are small enough for exact doubles (2^53).

local is_one = ARGV[4] == '1'
-- Most looks find nothing, so this check makes them cheap.
if is_one and redis.call('EXISTS', unpack(ARGV, 5)) == 0 then
  return {{}, {}, {}}
end

local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local has_tenants = ARGV[2] ~= '0'

-- Returns the tenants with due games of a set.
local function find(number, set)
  local found = {}
  local first = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  if not first then
    return found
  end
  local beat = redis.call('GET', is_one and KEYS[1] or (string.gsub(KEYS[1], '{.*}', string.match(set, '{.*}'))))
  local last, ahead = string.match(beat or '', '^(%d+) %d+ %d+ ?(%d*)$')
  local now = math.max(clock + (tonumber(ahead) or 0), tonumber(last) or 0)
  if tonumber(first) > now then
    return found
  end
  local tenants = {'', first}
  if has_tenants then
    tenants = redis.call('ZRANGE', set, '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
  end
  for i = 1, #tenants, 2 do
    local tenant = tenants[i]
    local games = has_tenants and set .. ':' .. tenant or set
    local count = redis.call('ZCOUNT', games, '-inf', now)
    if count > 0 then
      found[#found + 1] = {number = number, set = set, tenant = tenant, games = games, count = count,
                           since = tenants[i + 1], now = now, beat = beat}
    else
      local following = redis.call('ZRANGE', games, 0, 0, 'WITHSCORES')[2]
      if following then
        redis.call('ZADD', set, following, tenant)
      else
        redis.call('ZREM', set, tenant)
      end
    end
  end
  return found
end

local unread, due, leased = {}, {}, {}
local function add(list, ...)
  for _, value in ipairs({...}) do
    list[#list + 1] = value
  end
end

local all, total = {}, 0
for i = 5, #ARGV do
  local is_read, found = pcall(find, i - 5, ARGV[i])
  if is_read then
    for _, each in ipairs(found) do
      add(all, each)
      total = total + each.count
    end
  else
    add(unread, i - 5)
  end
end

for _, each in ipairs(all) do
  if total > tonumber(ARGV[3]) then
    add(due, each.number, each.tenant, each.count, each.since)
  else
    -- The fraction distinguishes a lease from all other scores.
    local score = string.format('%.1f', each.now + tonumber(ARGV[1]) + 0.5)
    local games = redis.call('ZRANGE', each.games, '-inf', each.now, 'BYSCORE', 'WITHSCORES')
    for i = 1, #games, 2 do
      redis.call('ZADD', each.games, score, games[i])
    end
    if has_tenants then
      local first = redis.call('ZRANGE', each.games, 0, 0, 'WITHSCORES')[2]
      redis.call('ZADD', each.set, tonumber(first) > each.now and first or string.format('%.0f', each.now), each.tenant)
    end
    add(leased, each.tenant, score, each.now, each.beat, games)
  end
end
return {unread, due, leased}
