#!lua
-- Notes which seats of a table are taken, and that somebody has looked at it (script "claim_table").
--
-- KEYS[1]  sorted set  the tables of this form with open seats, by when they were opened
-- KEYS[2]  hash        what is known of them
-- ARGV[1]  the game
-- ARGV[2]  its version
-- ARGV[3]  of each seat 1 if it is taken, else 0
-- ARGV[4]  when it was opened, in ms since 1970
-- ARGV[5]  when somebody has looked at it, or empty
-- ARGV[6]  ms for which the list is kept
-- ARGV[7]  how many tables a list has at most
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
-- Who sits on a seat holds it no longer, so that it is free when that player leaves.
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
