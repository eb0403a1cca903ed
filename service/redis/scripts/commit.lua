#!lua
-- Replaces the state of a game if it is still at the expected version, appends its new events and publishes them.
--
-- KEYS[1]  string  the version and state of the game; also the channel of its notifications
-- KEYS[2]  list    its events
-- KEYS[3]  string  the idempotency record of the write; left out without an idempotency key
-- KEYS[…]  strings  the old and the new join code of the game: the keys with the games that they find; left out without
--          a join code
-- KEYS[…]  sorted sets  the tenants with reminders, for each kind that is written; with a colon and a tenant after the
--          name: the games of the tenant, by the time at which they are due
-- ARGV[1]  the expected beginning of KEYS[1]: "<expected version> <prefix of the expected state>"
-- ARGV[2]  the new value of KEYS[1]: "<new version> <state>"
-- ARGV[3]  seconds until the game expires
-- ARGV[4]  "<id of this write> "
-- ARGV[5]  the value for KEYS[3]; empty without it
-- ARGV[6]  seconds until KEYS[3] expires; empty without it
-- ARGV[7]  1 if an earlier attempt may have made this write, else 0
-- ARGV[8]  the number of reminders that are written
-- ARGV[9]  the change of the join codes: 1 to keep the only one, -1 to remove it, 2 to replace the first by the second,
--          0 without any
-- ARGV[10…] the new events, the oldest first, each after "<id> "
-- ARGV[…] for reminders: the tenant, the id of the game, and for each kind the time at which it is due in ms since
--          1970, or empty to remove the reminder
--
-- Returns 1 when done, now or by an earlier attempt;
--   {value} of KEYS[3] if there is an idempotency record of another write;
--   the value of KEYS[1] if the game is at another version;
--   0 if it is at another version, and compaction has removed the ids that would show whether an earlier attempt has
--   made this write;
--   -1 if another game has the second join code;
--   nil if the game does not exist.
-- Only the first changes the game. After an earlier write, the game or its tombstone is written again unchanged, with
-- its remaining time to live, so that a WAIT after this script waits until a replica has it.

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
  -- The event after the expected version has the id of the write that came first. It may be this write, if its answer
  -- was lost. Versions are small enough for exact doubles (2^53).
  local newest = value and tonumber(string.match(value, '^(%d+) '))
  local index = newest and tonumber(string.match(ARGV[1], '^%d+')) - newest or 0
  local next = index < 0 and redis.call('LINDEX', KEYS[2], index)
  if next and string.sub(next, 1, #ARGV[4]) == ARGV[4] then
    touch(value)
    return 1
  end
  -- Compacted events have no ids. A write with an idempotency key would have been found by its record.
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
  -- If the code was lost, another game may have it now; then this game is found only by its id.
  if not found or found == game then
    if ARGV[9] == '-1' then
      redis.call('DEL', KEYS[codes])
    else
      redis.call('SET', KEYS[codes], game, 'EX', ARGV[3])
    end
  end
end
-- The state is written last: if another key has the wrong type, the script ends there and the state stays unchanged.
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
