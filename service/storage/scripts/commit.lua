#!lua
-- Replaces the state of a game if it is still at the expected version, and appends what happened.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- ARGV[1]  what KEYS[1] must begin with: "<expected version> "
-- ARGV[2]  the whole new value of KEYS[1]: "<new version> <state>"
-- ARGV[3]  seconds to live, from now
-- ARGV[4…] the new events, oldest first
--
-- Returns 1 when done. Else nothing changes, and it returns the true value of KEYS[1], or nil if the game is gone.

if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then
  return redis.call('GET', KEYS[1])
end

-- The events go first: should their key be spoilt, the script ends here and the state stays as it was.
for i = 4, #ARGV do
  redis.call('RPUSH', KEYS[2], ARGV[i])
end
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1
