#!lua
-- Replaces a game at any version by a tombstone at the next version, notifies its followers, and removes it from the
-- index of all games.
--
-- KEYS[1]  string  the version and state of the game; also the channel of its notifications
-- KEYS[2]  list    its events
-- KEYS[3]  string  its hint
-- KEYS[4]  string  its review
-- KEYS[5]  sorted set  the recently deleted games of the shard, by the time of the deletion in ms since 1970
-- KEYS[6]  hash    the games of the shard, and their tenants
-- KEYS[7]  sorted set  the tenants with reminders of the kind that is written; with a colon and a tenant after its
--          name: the games of the tenant, by the time at which they are due
-- KEYS[…]  sorted sets  the games of the tenant with other reminders
-- ARGV[1]  the tombstone, which replaces the state
-- ARGV[2]  the id of the game
-- ARGV[3]  the time at which the game is due in KEYS[7], in ms since 1970
-- ARGV[4]  ms for which the game stays in KEYS[5]
-- ARGV[5]  the tenant
--
-- The keys from KEYS[5] on are left out for a game without a shard.
-- Returns {version of the tombstone}, written now or by an earlier attempt; nil if the game does not exist. The
-- tombstone expires when the game would have expired. An earlier tombstone is written again unchanged, so that a WAIT
-- after this script waits until a replica has it.
-- Versions are small enough for exact doubles (2^53).

local value = redis.call('GET', KEYS[1])
if not value then
  return nil
end
local version, state = string.match(value, '^(%d+) (.*)$')
if state == ARGV[1] then
  redis.call('SET', KEYS[1], value, 'KEEPTTL')
  return {tonumber(version)}
end

-- The state is written last: if another key has the wrong type, the script ends there and can be run again.
local deleted = tonumber(version) + 1
if KEYS[5] then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now - ARGV[4])
  redis.call('ZADD', KEYS[5], now, ARGV[2])
  redis.call('PEXPIRE', KEYS[5], ARGV[4])
  redis.call('HDEL', KEYS[6], ARGV[2])
  for i = 8, #KEYS do
    redis.call('ZREM', KEYS[i], ARGV[2])
  end
  redis.call('ZADD', KEYS[7] .. ':' .. ARGV[5], ARGV[3], ARGV[2])
  redis.call('ZADD', KEYS[7], 'LT', ARGV[3], ARGV[5])
end
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
redis.call('SET', KEYS[1], string.format('%.0f %s', deleted, ARGV[1]), 'KEEPTTL')
-- The notification has a version without events, so followers read the game and find the tombstone. It is only a hint:
-- the write succeeds even if the server does not allow publishing.
redis.pcall('SPUBLISH', KEYS[1], string.format('%.0f ', deleted))
return {deleted}
