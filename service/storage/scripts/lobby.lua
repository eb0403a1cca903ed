#!lua
-- Shows a game in the lobby, or hides it, unless a newer version of it has been shown or hidden.
--
-- KEYS[1]  hash  the entries of the lobby: game → "<version> <until> <variant>", and the JSON after a line feed if shown
-- KEYS[2]  sorted set  the games by when their entries end, in ms since 1970
-- KEYS[3]  sorted set  the games that are shown, by when they were created
-- ARGV[1]  the id of the game
-- ARGV[2]  its version
-- ARGV[3]  its variant; that of a game which is known does not change
-- ARGV[4]  when it was created, in ms since 1970
-- ARGV[5]  ms until the entry ends
-- ARGV[6]  how many games of a variant are shown at most: the newest
-- ARGV[7]  how many entries that have ended are removed at most
-- ARGV[8]  the JSON; empty to hide the game, which is noted for as long as an entry lives
--
-- The games of each variant are also in a sorted set of their own, the name of KEYS[3] with ":<variant>".
-- Returns 1 if the game is shown now, else 0.

local function end_entry(game)
  local variant = string.match(redis.call('HGET', KEYS[1], game) or '', '^%d+ %d+ (%S+)')
  redis.call('HDEL', KEYS[1], game)
  redis.call('ZREM', KEYS[2], game)
  redis.call('ZREM', KEYS[3], game)
  if variant then
    redis.call('ZREM', KEYS[3] .. ':' .. variant, game)
  end
end

local game = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, each in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[7])) do
  end_entry(each)
end

local known, variant = string.match(redis.call('HGET', KEYS[1], game) or '', '^(%d+) %d+ (%S+)')
if known and tonumber(known) > tonumber(ARGV[2]) then
  return 0
end
variant = variant or ARGV[3]
local of_variant = KEYS[3] .. ':' .. variant
local ends = now + ARGV[5]
local head = string.format('%s %.0f %s', ARGV[2], ends, variant)
redis.call('ZADD', KEYS[2], ends, game)
if ARGV[8] == '' then
  redis.call('HSET', KEYS[1], game, head)
  redis.call('ZREM', KEYS[3], game)
  redis.call('ZREM', of_variant, game)
else
  redis.call('HSET', KEYS[1], game, head .. '\n' .. ARGV[8])
  redis.call('ZADD', KEYS[3], ARGV[4], game)
  redis.call('ZADD', of_variant, ARGV[4], game)
  if redis.call('ZCARD', of_variant) > tonumber(ARGV[6]) then
    end_entry(redis.call('ZRANGE', of_variant, 0, 0)[1])
  end
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
  redis.call('PEXPIRE', of_variant, ARGV[5])
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return redis.call('ZSCORE', KEYS[3], game) and 1 or 0
