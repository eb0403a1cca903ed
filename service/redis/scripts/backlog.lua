#!lua flags=no-writes
-- Returns the number of due reminders of each kind, and the time at which the oldest one was due. Changes nothing.
--
-- KEYS[1…] sorted sets  all sets of the first kind, then all sets of the second kind, …. A set has tenants, by the time
--                  of their next turn in ms since 1970, which is not later than their first game is due; with a colon
--                  and a tenant after its name: the games of the tenant, by the time at which they are due. A set of a
--                  kind without tenants has things, by the time at which they are due
-- ARGV[1]  the maximum of tenants of each kind
-- ARGV[…]  for each kind: 1 if it has tenants, else 0
--
-- Returns {current time, then for each kind: number of due reminders, time at which the oldest one was due}; the
-- current time if none is due. Times are small enough for exact doubles (2^53).

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kinds = #ARGV - 1
local sets = #KEYS / kinds
local result = {now}

for i = 1, kinds do
  local first, last = (i - 1) * sets + 1, i * sets
  local count, oldest, room = 0, now, tonumber(ARGV[1])

  local function add(key)
    count = count + redis.call('ZCOUNT', key, '-inf', now)
    local due = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
    oldest = math.min(oldest, due and tonumber(due) or now)
  end

  -- Usually there is no reminder of most kinds.
  if redis.call('EXISTS', unpack(KEYS, first, last)) > 0 then
    for j = first, last do
      if ARGV[i + 1] == '0' then
        add(KEYS[j])
      elseif room > 0 then
        local tenants = redis.call('ZRANGE', KEYS[j], '-inf', now, 'BYSCORE', 'LIMIT', 0, room)
        room = room - #tenants
        for _, tenant in ipairs(tenants) do
          add(KEYS[j] .. ':' .. tenant)
        end
      end
    end
  end
  result[#result + 1] = count
  result[#result + 1] = math.floor(oldest)
end
return result
