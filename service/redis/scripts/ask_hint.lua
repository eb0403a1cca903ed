#!lua
-- Returns the hint of a game at a position, or has it computed.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  string  its hint: the position that it is for, and behind that the hint, once it is there
-- KEYS[3]  sorted set  the tenants with reminders of hints; behind its name, a colon and the tenant: the games of a
--          tenant by when they are due; left out for a game without a shard
-- ARGV[1]  the position: what KEYS[1] must begin with
-- ARGV[2]  the id of the game
-- ARGV[3]  its tenant
--
-- Returns {hint}; else 0 if the game is at another position, 1 if the hint was asked for before, 2 if it is from now
-- on. A hint that is asked for expires with its game. Whoever asks again has a reminder that was lost written anew.

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
