#!lua flags=no-writes
-- Tells how many reminders of each kind are due, and when the oldest one was. Changes nothing.
--
-- KEYS[1…] sorted sets  all those of the first kind, then all those of the second …: tenants by when they are next to
--                  be served, in ms since 1970, not later than their first game is due; behind the name, a colon and a
--                  tenant: the games of the tenant by when they are due. Or things without tenants by when they are due
-- ARGV[1]  how many tenants of each kind at most
-- ARGV[…]  for each kind: 1 if it has tenants, else 0
--
-- Returns {the current time, how many are due, when the oldest one was, how many of the second kind, …}; the current
-- time where none is due. Times are small here: a double is exact up to 2^53.

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
