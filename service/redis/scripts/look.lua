#!lua
-- Notes that players have looked at their game.
--
-- KEYS[1]  hash  when each seat has last looked, in ms since 1970
-- ARGV[1]  now, in ms since 1970
-- ARGV[2]  ms for which that is kept
-- ARGV[3…] the seats
--
-- Returns 1.

for i = 3, #ARGV do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
