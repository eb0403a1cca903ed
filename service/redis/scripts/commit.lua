#!lua
-- Replaces the state of a game if it is still at the expected version, appends its new events and publishes them.
--
-- KEYS[1]  string  the version and state of the game; also the channel of its notifications
-- KEYS[2]  list    its events
-- KEYS[3]  string  the write under the client's idempotency key; left out without one
-- KEYS[…]  strings  the games that are found by the join codes that this game had and has; none if it had none
-- KEYS[…]  sorted sets  the tenants with reminders, of the kinds that are written; behind each name, a colon and the
--          tenant: the games of a tenant by when they are due
-- ARGV[1]  what KEYS[1] must begin with: "<expected version> <prefix of the expected state>"
-- ARGV[2]  the whole new value of KEYS[1]: "<new version> <state>"
-- ARGV[3]  seconds to live, from now
-- ARGV[4]  "<id of this write> "
-- ARGV[5]  the value for KEYS[3], and
-- ARGV[6]  the seconds it lives; both empty without one
-- ARGV[7]  1 if an earlier attempt may have made this write, else 0
-- ARGV[8]  how many reminders are written
-- ARGV[9]  what becomes of the join codes: 1 if there is one, which stays; -1 if it is removed; 2 if the second takes the
--          place of the first; 0 without any
-- ARGV[10…] the new events, oldest first, each preceded by "<id> "
-- ARGV[…] for reminders: the tenant, the id of the game, and when it is due, of each kind, in ms since 1970, or empty
--          to remove it
--
-- Returns 1 when done, also when an earlier attempt made this write; {value} of KEYS[3] if another write was made under
-- the client's key; the value of KEYS[1] if the game is at another version; 0 if it is, and compaction has removed the
-- ids that would show whether an earlier attempt made this write; -1 if another game has the second join code; nil if
-- there is no such game. Only the first changes the game. After a write that was made earlier, the game, or its
-- tombstone, is written again as it is, with the life that it has left, so that a WAIT after this script waits for that
-- write.

local idempotency = ARGV[6] ~= '' and KEYS[3]
local reminders = tonumber(ARGV[8])
local last = #ARGV - (reminders > 0 and reminders + 2 or 0)  -- the last event

local function touch(value)
  if value then
    redis.call('SET', KEYS[1], value, 'KEEPTTL')
  end
end

if idempotency then
  local prior = redis.call('GET', idempotency)
  if prior then
    touch(redis.call('GET', KEYS[1]))
    if string.sub(prior, 1, #ARGV[4]) == ARGV[4] then
      return 1
    end
    return {prior}
  end
end

if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then
  local value = redis.call('GET', KEYS[1])
  -- The event after the expected version has the id of the write that came first: perhaps this one, whose answer was
  -- lost. Versions are small here: a double is exact up to 2^53.
  local newest = value and tonumber(string.match(value, '^(%d+) '))
  local index = newest and tonumber(string.match(ARGV[1], '^%d+')) - newest or 0
  local next = index < 0 and redis.call('LINDEX', KEYS[2], index)
  if next and string.sub(next, 1, #ARGV[4]) == ARGV[4] then
    touch(value)
    return 1
  end
  -- Compacted events have no ids. But a write under a client's key would have been found there.
  if ARGV[7] == '1' and not idempotency and index < 0 and index <= -redis.call('LLEN', KEYS[2]) then
    local first = redis.call('LINDEX', KEYS[2], 0)
    if first and string.match(first, '^%*') then
      return 0
    end
  end
  return value
end

if ARGV[9] ~= '0' then
  local game = string.sub(KEYS[1], 9, -2)  -- behind "domino:{", before "}"
  local codes = #KEYS - reminders
  local found = redis.call('GET', KEYS[codes])
  if ARGV[9] == '2' then
    if found and found ~= game then
      return -1
    end
    if redis.call('GET', KEYS[codes - 1]) == game then
      redis.call('DEL', KEYS[codes - 1])
    end
  end
  -- Where it was lost, another game may have it by now: this one is found by its id alone.
  if not found or found == game then
    if ARGV[9] == '-1' then
      redis.call('DEL', KEYS[codes])
    else
      redis.call('SET', KEYS[codes], game, 'EX', ARGV[3])
    end
  end
end
-- The state goes last: if another key has the wrong type, the script ends there and the state stays as it was.
for i = 1, reminders do
  local tenants, due = KEYS[#KEYS - reminders + i], ARGV[last + 2 + i]
  local games = tenants .. ':' .. ARGV[last + 1]
  if due == '' then
    redis.call('ZREM', games, ARGV[last + 2])
  else
    redis.call('ZADD', games, due, ARGV[last + 2])
    redis.call('ZADD', tenants, 'LT', due, ARGV[last + 1])
  end
end
for i = 10, last do
  redis.call('RPUSH', KEYS[2], ARGV[i])
end
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
if idempotency then
  redis.call('SET', idempotency, ARGV[5], 'EX', ARGV[6])
end
-- A notification is only a hint: the write succeeds even if the server does not allow publishing.
redis.pcall('SPUBLISH', KEYS[1], string.match(ARGV[1], '^%d+ ') .. table.concat(ARGV, '\n', 10, last))
return 1
