#!lua
-- Returns the review of a game, which may be incomplete. If there is none, it can be requested.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  its review, after "+" if it is complete, else after "-"
-- KEYS[4]  sorted set  the tenants with reminders of reviews; left out for a game without a shard. With a colon and a
--          tenant after its name: the games of the tenant, by the time at which they are due
-- ARGV[1]  1 to request a review if there is none, else 0
-- ARGV[2]  the id of the game
-- ARGV[3]  its tenant
--
-- Returns the value of KEYS[3]; nil if there is none. A deleted game, which has no events, never has one. The review
-- expires with its game; each call sets its expiry to that of the game. A call also restores a lost reminder of a review
-- that is not complete.

local review = redis.call('GET', KEYS[3])
if not review then
  if ARGV[1] == '0' or redis.call('EXISTS', KEYS[2]) == 0 then
    return nil
  end
  review = '-'
  redis.call('SET', KEYS[3], review)
end
redis.call('PEXPIRE', KEYS[3], math.max(redis.call('PTTL', KEYS[1]), 1))
if KEYS[4] and string.sub(review, 1, 1) == '-' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[4] .. ':' .. ARGV[3], 'NX', now, ARGV[2])
  redis.call('ZADD', KEYS[4], 'LT', now, ARGV[3])
end
return review
