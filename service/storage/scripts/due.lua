#!lua
-- Tells what is due: the holders of games, with how many of theirs; or how many without holders.
--
-- KEYS[1…] sorted sets  holders by when they are next to be served, in ms since 1970, not later than their first game is
--                  due; behind the name, a colon and a holder: the games of the holder by when they are due. Or things
--                  without holders by when they are due. As many sets as ARGV[1] says
-- KEYS[…]  string  the heartbeat "<last> <since> <until>" in ms: when somebody last ran this script, when it ran again
--                  after the last outage, and until when its allowance is; left out for other reminders
-- ARGV[1]  how many sets
-- ARGV[2]  how many holders of each set at most; 0 for sets without holders
-- ARGV[3]  the longest time without this script that is no outage, in ms
-- ARGV[4]  the longest allowance after an outage, in ms
-- ARGV[5]  the age of the string from which it is written again, in ms
--
-- Returns {number of the set from 1, holder, how many of its games are due, since when it waits, …}. A holder without
-- any is put off to when the first is due, or removed if it has none.
-- Times are small here: a double is exact up to 2^53.

local sets = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local heartbeat = KEYS[sets + 1]
if heartbeat then
  local last, since, allowed = string.match(redis.call('GET', heartbeat) or '', '^(%d+) (%d+) (%d+)$')
  local found = last
  last, since, allowed = tonumber(last), tonumber(since), tonumber(allowed)
  if not found then
    -- Nobody knows for how long there was no heartbeat: at least since the first game was due.
    last, since, allowed = now, 0, 0
    for i = 1, sets do
      local first = redis.call('ZRANGE', KEYS[i], 0, 0, 'WITHSCORES')
      last = math.min(last, tonumber(first[2] or now))
    end
  end
  local gap = now - last
  if gap > tonumber(ARGV[3]) then
    since, allowed = now, now + math.min(math.max(allowed - last, 0) + gap, tonumber(ARGV[4]))
  end
  if not found or math.abs(gap) >= tonumber(ARGV[5]) then
    redis.call('SET', heartbeat, string.format('%.0f %.0f %.0f', now, since, allowed))
  end
end

-- Most runs find nothing, so what they do is cheap: usually, there is no reminder of this kind at all.
local result = {}
if redis.call('EXISTS', unpack(KEYS, 1, sets)) == 0 then
  return result
end

local function add(...)
  for _, value in ipairs({...}) do
    result[#result + 1] = value
  end
end

for i = 1, sets do
  if ARGV[2] == '0' then
    local count = redis.call('ZCOUNT', KEYS[i], '-inf', now)
    if count > 0 then
      add(i, '', count, redis.call('ZRANGE', KEYS[i], 0, 0, 'WITHSCORES')[2])
    end
  else
    local holders = redis.call('ZRANGE', KEYS[i], '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
    for j = 1, #holders, 2 do
      local games = KEYS[i] .. ':' .. holders[j]
      local count = redis.call('ZCOUNT', games, '-inf', now)
      if count > 0 then
        add(i, holders[j], count, holders[j + 1])
      else
        local first = redis.call('ZRANGE', games, 0, 0, 'WITHSCORES')[2]
        if first then
          redis.call('ZADD', KEYS[i], first, holders[j])
        else
          redis.call('ZREM', KEYS[i], holders[j])
        end
      end
    end
  end
end
return result
