#!lua flags=no-writes
-- Returns the usage of an application.
--
-- KEYS[1]  hash  the entries of the index (script "index"). Its name without ":index" is the prefix of the other keys
--
-- Returns {number of games that have not expired, bytes of all games in the index, number of games due to endpoints,
--          summed over the endpoints}. The bytes include games that expired in the last day.
-- Times are small enough for exact doubles (2^53).

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
