#!lua
-- Stores the hint of a game, unless the game has left the position for which it was computed.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  string  its hint
-- ARGV[1]  the position: the expected beginning of KEYS[1]
-- ARGV[2]  the hint
--
-- Returns 1 when done; 0 if the game is at another position, was deleted or has expired.

if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[2], ARGV[1] .. ARGV[2], 'PX', math.max(redis.call('PTTL', KEYS[1]), 1))
return 1
