#!lua
-- Stores when players last read their game.
--
-- KEYS[1]  hash  by seat: the last time at which its player read the game, in ms since 1970
-- ARGV[1]  the current time, in ms since 1970
-- ARGV[2]  ms until the hash expires
-- ARGV[3…] the seats
--
-- Returns 1.

for i = 3, #ARGV do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
