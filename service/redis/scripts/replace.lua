#!lua
-- Creates a value, replaces it if it is still the expected one, or deletes it. May be run again with the same arguments.
--
-- KEYS[1]  string
-- KEYS[2]  hash  the requests of its owner under idempotency keys
-- ARGV[1]  the expected value; empty for none
-- ARGV[2]  the new value; empty to delete the key
-- ARGV[3]  the name of the request under an idempotency key; empty without one
-- ARGV[4]  what is kept of it: "<time in ms since 1970> …"
-- ARGV[5]  the time up to which requests are outdated
-- ARGV[6]  the most requests that are kept
-- ARGV[7]  the seconds for which they are kept
--
-- Returns 1 when done, now or earlier; 0 if it has another value; -2 if another request was made under the idempotency
-- key; -3 if too many are kept. Only the first changes anything.

local value = redis.call('GET', KEYS[1]) or ''
if value == ARGV[2] then
  return 1
end
if value ~= ARGV[1] then
  return 0
end
if ARGV[3] ~= '' then
  local kept = redis.call('HGET', KEYS[2], ARGV[3])
  if kept and tonumber(string.match(kept, '^%d+')) > tonumber(ARGV[5]) then
    return -2
  end
  if not kept and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[6]) then
    local all = redis.call('HGETALL', KEYS[2])
    for i = 1, #all, 2 do
      if tonumber(string.match(all[i + 1], '^%d+')) <= tonumber(ARGV[5]) then
        redis.call('HDEL', KEYS[2], all[i])
      end
    end
    if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[6]) then
      return -3
    end
  end
  redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
  redis.call('EXPIRE', KEYS[2], ARGV[7])
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2])
end
return 1
