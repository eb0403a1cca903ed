#!lua
-- Returns what is kept of a request under an idempotency key, and writes it again as it is, so that a WAIT after this
-- script waits for that write.
--
-- KEYS[1]  hash  the requests of an application
-- ARGV[1]  the name of the request
--
-- Returns {value}, or nil.

local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value then
  return nil
end
redis.call('HSET', KEYS[1], ARGV[1], value)
return {value}
