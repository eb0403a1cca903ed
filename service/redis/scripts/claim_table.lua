#!lua
-- Sends a seeker to a table: to the one of its claim, or to the oldest with a free seat, or to a new one.
--
-- KEYS[1]  string      the claim: the game that the seeker was sent to
-- KEYS[2]  sorted set  the tables of this form with open seats, by when they were opened
-- KEYS[3]  hash        the same tables: "<opened> <looked> <version> <taken> <held>": when it was opened, and last looked
--                      at; of each seat at that version 1 if it is taken, else 0; the seats that are held, each
--                      "<seat>:<until>:<claim>,"
-- ARGV[1]  the claim, and
-- ARGV[2]  ms for which its game is known
-- ARGV[3]  the id of the new game
-- ARGV[4]  how many seats it has
-- ARGV[5]  now, in ms since 1970, as all times here
-- ARGV[6]  ms after a look for which a table is offered
-- ARGV[7]  ms for which a seat is held
-- ARGV[8]  the game that the seeker leaves, or empty
-- ARGV[9]  ms for which the list is kept
-- ARGV[10] how many tables are looked at at most
--
-- Returns {game, seat, 1}; the last is 0 for a game of the claim that is not offered any more.

local claim, now, leaving = ARGV[1], tonumber(ARGV[5]), ARGV[8]

local function parse(entry)
  local opened, looked, version, taken, held = string.match(entry or '', '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  local table = opened and {opened = opened, looked = tonumber(looked), version = version, taken = taken, held = {}}
  for seat, till, holder in string.gmatch(held or '', '(%d+):(%d+):([^,]+),') do
    if tonumber(till) > now then
      table.own = table.own or (holder == claim and seat)
      table.held[seat] = string.format('%s:%s:%s,', seat, till, holder)
    end
  end
  return table
end

-- Holds the first free seat of a table; returns it, or nil if there is none.
local function hold(game, table)
  for i = 1, #table.taken do
    local seat = string.format('%d', i - 1)
    if string.sub(table.taken, i, i) == '0' and not table.held[seat] then
      table.held[seat] = string.format('%s:%.0f:%s,', seat, now + ARGV[7], claim)
      local held = ''
      for _, each in pairs(table.held) do
        held = held .. each
      end
      redis.call('HSET', KEYS[3], game,
        string.format('%s %.0f %s %s %s', table.opened, table.looked, table.version, table.taken, held))
      return seat
    end
  end
end

local function sent(game, seat, offered)
  redis.call('SET', KEYS[1], game, 'PX', ARGV[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[9])
  redis.call('PEXPIRE', KEYS[3], ARGV[9])
  return {game, seat, offered}
end

local known = redis.call('GET', KEYS[1])
if known and known ~= leaving then
  local table = parse(redis.call('HGET', KEYS[3], known))
  -- Who holds no seat there any more has perhaps taken it, and then another one must not be held.
  return sent(known, table and table.own or '0', table and now - table.looked < tonumber(ARGV[6]) and 1 or 0)
end
for _, game in ipairs(redis.call('ZRANGE', KEYS[2], 0, ARGV[10] - 1)) do
  local table = parse(redis.call('HGET', KEYS[3], game))
  if not table or now - table.looked >= tonumber(ARGV[6]) then
    redis.call('ZREM', KEYS[2], game)
    redis.call('HDEL', KEYS[3], game)
  elseif game ~= leaving then
    local seat = hold(game, table)
    if seat then
      return sent(game, seat, 1)
    end
  end
end
redis.call('ZADD', KEYS[2], now, ARGV[3])
return sent(ARGV[3], hold(ARGV[3], {
  opened = ARGV[5], looked = now, version = '0', taken = string.rep('0', ARGV[4]), held = {}}), 1)
