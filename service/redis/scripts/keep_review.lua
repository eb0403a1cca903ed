#!lua
-- Stores a review, unless the stored one is complete.
--
-- KEYS[1]  string  the review
-- ARGV[1]  its new value
--
-- Returns 1 when done; 0 if the stored review is complete, or does not exist, for example because the game was deleted.

local review = redis.call('GET', KEYS[1])
if not review or string.sub(review, 1, 1) == '+' then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
return 1
