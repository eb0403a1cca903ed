#!lua
-- Ends the lease of the reminder of an endpoint, unless the lease was lost.
--
-- KEYS[1]  hash        the endpoints of the application, by id
-- KEYS[2]  sorted set  the reminders of endpoints, by the time at which they are due, in ms since 1970
-- KEYS[3]  sorted set  the games with messages for the endpoint, by the time at which they are due
-- ARGV[1]  the id of the endpoint
-- ARGV[2]  its value as the process with the lease read it
-- ARGV[3]  the reminder
-- ARGV[4]  its score during the lease
-- ARGV[5]  the time at which it is due again, in ms since 1970; empty for never
-- ARGV[6]  1 if it is due when the next game is, but not before ARGV[5], else 0
--
-- Returns 1 when done; 0 if the lease was lost: the reminder has another score. If the endpoint has changed since it
-- was read, it is due at once.

local score = redis.call('ZSCORE', KEYS[2], ARGV[3])
if not score or tonumber(score) ~= tonumber(ARGV[4]) then
  return 0
end
local value = redis.call('HGET', KEYS[1], ARGV[1])
local due = ARGV[5]
if value and value ~= ARGV[2] then
  local time = redis.call('TIME')
  due = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
elseif value and ARGV[6] == '1' then
  local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
  due = first and string.format('%.0f', math.max(tonumber(first), tonumber(due ~= '' and due or '0'))) or ''
end
if not value or due == '' then
  redis.call('ZREM', KEYS[2], ARGV[3])
else
  redis.call('ZADD', KEYS[2], due, ARGV[3])
end
return 1
