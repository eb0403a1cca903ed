#!lua
-- Keeps a value under a name unless there is one. A value that is there is written again as it is, with the life that it
-- has left, so that a WAIT after this script waits for it, too: otherwise a failover could lose a value that a repeated
-- request was already told.
--
-- KEYS[1]  string  the value
-- ARGV[1]  the value for KEYS[1], and
-- ARGV[2]  the seconds it lives
--
-- Returns {the value that is kept}.

local first = redis.call('GET', KEYS[1])
if first then
  redis.call('SET', KEYS[1], first, 'KEEPTTL')
  return {first}
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return {ARGV[1]}
