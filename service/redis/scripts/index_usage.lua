#!lua flags=no-writes
-- Returns what is kept of the games of an application.
--
-- KEYS[1]  hash  the entries of the index (script "index"); the names of its other keys begin with its own, without
--                ":index"
--
-- Returns {games that have not expired, bytes of the games, also of those that have expired in the last day, games that
--          are due to endpoints, summed over these}.
-- Times are small here: a double is exact up to 2^53.

local base = string.sub(KEYS[1], 1, -#':index' - 1)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = 0
for _, endpoint in ipairs(redis.call('SMEMBERS', base .. ':endpoints')) do
  due = due + redis.call('ZCARD', base .. ':webhook:' .. endpoint .. ':due')
end
return {
  redis.call('ZCOUNT', base .. ':ends', string.format('(%.0f', now), '+inf'),
  tonumber(redis.call('GET', base .. ':bytes') or 0),
  due,
}
