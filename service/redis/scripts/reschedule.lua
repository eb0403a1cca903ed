#!lua
-- Ends the lease of a game, and sets when it is due again, or removes it, unless the lease was lost.
--
-- KEYS[1]  sorted set  games, by the time at which they are due in ms since 1970
-- KEYS[2]  sorted set  their tenants; left out for things without tenants
-- ARGV[1]  the id of the game
-- ARGV[2]  its score during the lease
-- ARGV[3]  the time at which it is due again; empty to remove it
-- ARGV[4]  the tenant
--
-- Returns 1 when done; 0, without a change, if the lease was lost: the game has another score, or none.

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
