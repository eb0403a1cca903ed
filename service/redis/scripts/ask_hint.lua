#!lua
-- Returns the hint of a game at a position, or requests it.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  string  its hint: the position that it is for, followed by the hint once it is computed
-- KEYS[3]  sorted set  the tenants with reminders of hints; left out for a game without a shard. With a colon and a
--          tenant after its name: the games of the tenant, by the time at which they are due
-- ARGV[1]  the position: the expected beginning of KEYS[1]
-- ARGV[2]  the id of the game
-- ARGV[3]  its tenant
--
-- Returns {hint}; or 0 if the game is at another position, 1 if the hint was requested before, 2 if it is requested
-- now. A requested hint expires with its game. A repeated request also restores a lost reminder.

local position = ARGV[1]
if redis.call('GETRANGE', KEYS[1], 0, #position - 1) ~= position then
  return 0
end
local hint = redis.call('GET', KEYS[2])
local known = hint and string.sub(hint, 1, #position) == position
if known and #hint > #position then
  return {string.sub(hint, #position + 1)}
end
if not known then
  redis.call('SET', KEYS[2], position, 'PX', math.max(redis.call('PTTL', KEYS[1]), 1))
end
if KEYS[3] then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[3] .. ':' .. ARGV[3], 'NX', now, ARGV[2])
  redis.call('ZADD', KEYS[3], 'LT', now, ARGV[3])
end
return known and 1 or 2
