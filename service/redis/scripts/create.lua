#!lua
-- Stores a new game, and puts it into the index of all games; some of those in there that have expired are removed.
--
-- KEYS[1]  string  the version and state of the game
-- KEYS[2]  list    its events
-- KEYS[3]  string  the write under the client's idempotency key; left out without one
-- KEYS[…]  string  the game that is found by the join code of this one; left out without one
-- KEYS[…]  hash    the games of the shard, and their tenants; left out for a game without a shard
-- KEYS[…]  sorted sets  the tenants with reminders, of the kinds that are written; behind each name, a colon and the
--          tenant: the games of a tenant by when they are due
-- ARGV[1]  the whole value of KEYS[1]: "<version> <state>"
-- ARGV[2]  seconds to live
-- ARGV[3]  "<id of this write> "
-- ARGV[4]  the value for KEYS[3], and
-- ARGV[5]  the seconds it lives; both empty without one
-- ARGV[6]  the id of the game, as it ends KEYS[1] before a brace; empty for a game without a shard
-- ARGV[7]  its tenant
-- ARGV[8]  how many reminders are written
-- ARGV[9]  1 with a join code, else 0
-- ARGV[10…] the events, oldest first, each preceded by "<id> "
-- ARGV[…] for reminders: the tenant, the id of the game, and when it is due, of each kind, in ms since 1970, or empty
--          to remove it
--
-- Returns 1 when done, also when an earlier attempt made this write; {value} of KEYS[3] if another write was made under
-- the client's key; 0 if there is another game under these keys, or one whose first write has no id any more; -1 if
-- another game has the join code. Only the first changes anything. After a write that was made earlier, the game, or its
-- tombstone, is written again as it is, with the life that it has left, so that a WAIT after this script waits for that
-- write.

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
  -- Redis lets games expire without a word to the index. Each new game has three others looked at, so that in the long
  -- run at most a third of the index has expired.
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
