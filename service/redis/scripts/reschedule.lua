#!lua
-- Changes when a game is due, or removes it, if its lease is still the one that was taken.
--
-- KEYS[1]  sorted set  games by when they are due, in ms since 1970
-- KEYS[2]  sorted set  their tenants; left out for what has none
-- ARGV[1]  the id of the game
-- ARGV[2]  its score during the lease
-- ARGV[3]  when it is due from now on; empty to remove it
-- ARGV[4]  the tenant
--
-- Returns 1 when done; 0 if it has another score, or none. Only the first changes anything.

local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) ~= tonumber(ARGV[2]) then
  return 0
end
if ARGV[3] == '' then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
  if KEYS[2] then
    redis.call('ZADD', KEYS[2], 'LT', ARGV[3], ARGV[4])
  end
end
return 1
