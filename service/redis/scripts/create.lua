#!lua
-- Stores a new game, adds it to the index of all games, and removes some expired games from that index.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  the idempotency record of the write; left out without an idempotency key
-- KEYS[…]  string  the key of the join code, with the game that it finds; left out without a join code
-- KEYS[…]  hash    the games of the shard, and their tenants; left out for a game without a shard
-- KEYS[…]  sorted sets  the tenants with reminders, for each kind that is written; with a colon and a tenant after the
--          name: the games of the tenant, by the time at which they are due
-- ARGV[1]  the value of KEYS[1]: "<version> <state>"
-- ARGV[2]  seconds until the game expires
-- ARGV[3]  "<id of this write> "
-- ARGV[4]  the value for KEYS[3]; empty without it
-- ARGV[5]  seconds until KEYS[3] expires; empty without it
-- ARGV[6]  the id of the game, with which KEYS[1] ends before a brace; empty for a game without a shard
-- ARGV[7]  its tenant
-- ARGV[8]  the number of reminders that are written
-- ARGV[9]  1 with a join code, else 0
-- ARGV[10…] the events, the oldest first, each after "<id> "
-- ARGV[…] for reminders: the tenant, the id of the game, and for each kind the time at which it is due in ms since
--          1970, or empty to remove the reminder
--
-- Returns 1 when done, now or by an earlier attempt;
--   {value} of KEYS[3] if there is an idempotency record of another write;
--   0 if there is another game with this id, or the id of its first write is not stored any more;
--   -1 if another game has the join code.
-- Only the first changes anything. After an earlier write, the game or its tombstone is written again unchanged, with
-- its remaining time to live, so that a WAIT after this script waits until a replica has it.

local idempotency = ARGV[5] ~= '' and KEYS[3]
local reminders = tonumber(ARGV[8])
local last = #ARGV - (reminders > 0 and reminders + 2 or 0)  -- the last event

if redis.call('EXISTS', KEYS[1]) == 1 then
  local first = redis.call('LINDEX', KEYS[2], 0)
  local own = first and string.sub(first, 1, #ARGV[3]) == ARGV[3]
  local prior = not own and idempotency and redis.call('GET', idempotency)
  if not own and not prior then
    return 0
  end
  redis.call('SET', KEYS[1], redis.call('GET', KEYS[1]), 'KEEPTTL')
  return own and 1 or {prior}
end

local code = ARGV[9] == '1' and KEYS[#KEYS - reminders - 1]
if code then
  local game = redis.call('GET', code)
  if game and game ~= ARGV[6] then
    return -1
  end
  redis.call('SET', code, ARGV[6], 'EX', ARGV[2])
end

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
if ARGV[6] ~= '' then
  local games = KEYS[#KEYS - reminders]
  -- Games expire without a change of the index. With each new game three others are checked, so that in the long run at
  -- most a third of the index has expired.
  for _, game in ipairs(redis.call('HRANDFIELD', games, 3)) do
    if redis.call('EXISTS', string.sub(KEYS[1], 1, -#ARGV[6] - 2) .. game .. '}') == 0 then
      redis.call('HDEL', games, game)
    end
  end
  redis.call('HSET', games, ARGV[6], ARGV[7])
end
redis.call('DEL', KEYS[2])
for i = 10, last do
  redis.call('RPUSH', KEYS[2], ARGV[i])
end
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
if idempotency then
  redis.call('SET', idempotency, ARGV[4], 'EX', ARGV[5])
end
return 1
