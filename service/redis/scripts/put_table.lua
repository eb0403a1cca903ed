#!lua
-- Stores which seats of a table are taken, and when a player last read its game (script "claim_table").
--
-- KEYS[1]  sorted set  the tables of this form with open seats, by the time of their opening
-- KEYS[2]  hash        the state of these tables
-- ARGV[1]  the game
-- ARGV[2]  its version
-- ARGV[3]  a digit for each seat, which is 1 if the seat is taken, else 0
-- ARGV[4]  the time of its opening, in ms since 1970
-- ARGV[5]  the time at which a player read the game, or empty
-- ARGV[6]  ms until the list expires
-- ARGV[7]  the maximum of tables in a list
--
-- Returns 1 if the table is listed now, else 0.

local game, looked = ARGV[1], ARGV[5]
local opened, before, version, taken, held = string.match(
  redis.call('HGET', KEYS[2], game) or '', '^(%d+) (%d+) (%d+) (%d+) (.*)$')
if not opened then
  if looked == '' or not string.find(ARGV[3], '0') or redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[7]) then
    return 0
  end
  opened, before, version, taken, held = ARGV[4], '0', '0', ARGV[3], ''
end
if tonumber(ARGV[2]) >= tonumber(version) then
  version, taken = ARGV[2], ARGV[3]
end
if not string.find(taken, '0') then
  redis.call('ZREM', KEYS[1], game)
  redis.call('HDEL', KEYS[2], game)
  return 0
end
-- A seat that was taken is not reserved any more, so that it is free when its player leaves.
held = string.gsub(held, '(%d+):[^,]+,', function(seat)
  if string.sub(taken, seat + 1, seat + 1) == '1' then
    return ''
  end
end)
looked = looked ~= '' and string.format('%.0f', math.max(looked, before)) or before
redis.call('ZADD', KEYS[1], opened, game)
redis.call('HSET', KEYS[2], game, table.concat({opened, looked, version, taken, held}, ' '))
redis.call('PEXPIRE', KEYS[1], ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
return 1
