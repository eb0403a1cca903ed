#!lua
-- Keeps what is known of a review that is not complete yet.
--
-- KEYS[1]  string  the review
-- ARGV[1]  its new value
--
-- Returns 1 when done; 0 if it is complete, or if there is none, as that of a game that was deleted.

local review = redis.call('GET', KEYS[1])
if not review or string.sub(review, 1, 1) == '+' then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
return 1
