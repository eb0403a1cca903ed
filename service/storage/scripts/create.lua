#!lua
-- Keeps a new game.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- ARGV[1]  the whole value of KEYS[1]: "<version> <state>"
-- ARGV[2]  seconds to live
-- ARGV[3…] the events, oldest first
--
-- Returns 1 when the game is kept; 0 when there already is one under these keys, and nothing changes.

if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end

redis.call('DEL', KEYS[2])
for i = 3, #ARGV do
  redis.call('RPUSH', KEYS[2], ARGV[i])
end
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
