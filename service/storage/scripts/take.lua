#!lua
-- Takes games that are due, and makes each of them due again at the end of its lease.
--
-- KEYS[1…] sorted sets  games by when they are due, in ms since 1970: as many as ARGV[1] says
-- ARGV[1]  how many sets
-- ARGV[2]  how many games at most; empty to count those that are due instead
-- ARGV[3]  the length of a lease in ms
--
-- Returns {score of the leased games, game, score at which it was due, …}, with the earliest first in each set; or the
-- number of games that are due.
-- Times are small here: a double is exact up to 2^53.

local sets = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Most runs find nothing, so what they do is cheap: usually, no game at all has a reminder of this kind.
local function count_due(set)
  return redis.call('ZCOUNT', set, '-inf', now)
end
local any = redis.call('EXISTS', unpack(KEYS, 1, sets)) > 0

if ARGV[2] == '' then
  local due = 0
  for i = 1, any and sets or 0 do
    due = due + count_due(KEYS[i])
  end
  return due
end

-- No commit makes a game due at half a millisecond, so none is mistaken for a lease.
local leased = string.format('%.1f', now + tonumber(ARGV[3]) + 0.5)
local left = tonumber(ARGV[2])
local taken = {leased}
for i = 1, any and sets or 0 do
  if left > 0 and count_due(KEYS[i]) > 0 then
    local due = redis.call('ZRANGE', KEYS[i], '-inf', now, 'BYSCORE', 'LIMIT', 0, left, 'WITHSCORES')
    for j = 1, #due, 2 do
      redis.call('ZADD', KEYS[i], leased, due[j])
      taken[#taken + 1] = due[j]
      taken[#taken + 1] = due[j + 1]
    end
    left = left - #due / 2
  end
end
return taken
