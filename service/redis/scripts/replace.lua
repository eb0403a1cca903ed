#!lua
-- Creates, replaces or deletes a value if the current one is as expected. Can be run again with the same arguments.
--
-- KEYS[1]  string
-- KEYS[2]  hash  the idempotency records of its owner
-- ARGV[1]  the expected value; empty for none
-- ARGV[2]  the new value; empty to delete the key
-- ARGV[3]  the name of an idempotency record to store; empty for none
-- ARGV[4]  the record: "<time in ms since 1970> …"
-- ARGV[5]  the time up to which records have expired
-- ARGV[6]  the maximum of records
-- ARGV[7]  seconds until the record expires
--
-- Returns 1 when done, now or earlier; 0 if the current value is not as expected; -2 if there is a record of this name;
-- -3 if there are too many records. Only the first changes anything.

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
