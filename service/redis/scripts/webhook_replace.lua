#!lua
-- Creates, replaces or deletes an endpoint if its current value is as expected, and makes it due.
--
-- KEYS[1]  hash        the endpoints of the application, by id
-- KEYS[2]  set         the ids of the endpoints that were ever active
-- KEYS[3]  sorted set  the reminders of endpoints, by the time at which they are due, in ms since 1970
-- KEYS[4]  hash        the idempotency records of the application
-- KEYS[5]  sorted set  the games that are due to the endpoint, by the time at which they are due
-- KEYS[6]  hash        the failures of these games
-- KEYS[7…] all other keys of the endpoint; with KEYS[5] and KEYS[6], they are deleted with it
-- ARGV[1]  the id of the endpoint
-- ARGV[2]  its expected value; empty for a new one
-- ARGV[3]  its new value; empty to delete it
-- ARGV[4]  the maximum of endpoints of an application
-- ARGV[5]  1 if it is active now, else 0
-- ARGV[6]  its reminder
-- ARGV[7]  the time at which it is due, in ms since 1970; empty to leave it unchanged
-- ARGV[8]  1 to make all games due at once, else 0
-- ARGV[9]  the name of an idempotency record to store; empty for none
-- ARGV[10] the record: "<time in ms since 1970> …"
-- ARGV[11] the time up to which records have expired
-- ARGV[12] the maximum of records
-- ARGV[13] seconds until the record expires
--
-- Returns 1 when done, now or by an earlier attempt; 0 if the current value is not as expected; -1 if there are too
-- many endpoints; -2 if there is a record of this name; -3 if there are too many records. Only the first changes
-- anything.

local value = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if value ~= ARGV[2] then
  return value == ARGV[3] and 1 or 0
end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('SREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[6])
  redis.call('DEL', unpack(KEYS, 5))
  return 1
end
local kept = ARGV[9] ~= '' and redis.call('HGET', KEYS[4], ARGV[9])
if kept and tonumber(string.match(kept, '^%d+')) > tonumber(ARGV[11]) then
  return -2
end
if value == '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then
  return -1
end
if ARGV[9] ~= '' then
  if not kept and redis.call('HLEN', KEYS[4]) >= tonumber(ARGV[12]) then
    local all = redis.call('HGETALL', KEYS[4])
    for i = 1, #all, 2 do
      if tonumber(string.match(all[i + 1], '^%d+')) <= tonumber(ARGV[11]) then
        redis.call('HDEL', KEYS[4], all[i])
      end
    end
    if redis.call('HLEN', KEYS[4]) >= tonumber(ARGV[12]) then
      return -3
    end
  end
  redis.call('HSET', KEYS[4], ARGV[9], ARGV[10])
  redis.call('EXPIRE', KEYS[4], ARGV[13])
end

if ARGV[8] == '1' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('DEL', KEYS[6])
  for _, game in ipairs(redis.call('ZRANGE', KEYS[5], '(' .. string.format('%.0f', now), '+inf', 'BYSCORE')) do
    redis.call('ZADD', KEYS[5], string.format('%.0f', now), game)
  end
end
if ARGV[7] ~= '' then
  -- A score with a fraction is a lease, and stays: the process that has it sees that the endpoint has changed.
  local due = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[6]) or 'inf')
  if due == math.huge or (due == math.floor(due) and due > tonumber(ARGV[7])) then
    redis.call('ZADD', KEYS[3], ARGV[7], ARGV[6])
  end
end
if ARGV[5] == '1' then
  redis.call('SADD', KEYS[2], ARGV[1])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
