#!lua
-- Returns the idempotency record of a request. Writes it again unchanged, so that a WAIT after this script waits until
-- a replica has it.
--
-- KEYS[1]  hash  the idempotency records of an application
-- ARGV[1]  the name of the record
--
-- Returns {value}, or nil.

local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value then
  return nil
end
redis.call('HSET', KEYS[1], ARGV[1], value)
return {value}
