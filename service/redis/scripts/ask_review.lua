#!lua
-- Returns the review of a game, as far as it is computed; if there is none, has it computed.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  its review: "+" if it is complete, else "-", and what is known of it
-- KEYS[4]  sorted set  the tenants with reminders of reviews; behind its name, a colon and the tenant: the games of a
--          tenant by when they are due; left out for a game without a shard
-- ARGV[1]  1 to begin it if there is none, else 0
-- ARGV[2]  the id of the game
-- ARGV[3]  its tenant
--
-- Returns {value of KEYS[3], 1 if it was begun just now, else 0}; nil if there is none, also for a game that was
-- deleted, which has no events. A review expires with its game; if the game is written later, so that it lives longer,
-- the review does from the next time on that it is asked for. Whoever asks for one that is not complete has a reminder
-- that was lost written anew.

local review, begun = redis.call('GET', KEYS[3]), 0
if not review then
  if ARGV[1] == '0' or redis.call('EXISTS', KEYS[2]) == 0 then
    return nil
  end
  review, begun = '-', 1
  redis.call('SET', KEYS[3], review)
end
redis.call('PEXPIRE', KEYS[3], math.max(redis.call('PTTL', KEYS[1]), 1))
if KEYS[4] and string.sub(review, 1, 1) == '-' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[4] .. ':' .. ARGV[3], 'NX', now, ARGV[2])
  redis.call('ZADD', KEYS[4], 'LT', now, ARGV[3])
end
return {review, begun}
