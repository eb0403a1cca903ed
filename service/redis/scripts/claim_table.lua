#!lua
-- Sends a seeker to a table: to the table of its claim, or to the oldest one with a free seat, or to a new one.
--
-- KEYS[1]  string      the claim: the game to which the seeker was sent before
-- KEYS[2]  sorted set  the tables of this form with open seats, by the time of their opening
-- KEYS[3]  hash        the state of these tables: "<opened> <looked> <version> <taken> <held>". <opened> is the time of
--                      the opening, <looked> the last time at which a player read the game, <taken> a digit for each
--                      seat, which is 1 if the seat is taken at that version, and <held> the seats that are reserved
--                      for seekers, each as "<seat>:<until>:<claim>,"
-- ARGV[1]  the name of the claim
-- ARGV[2]  ms until the claim expires
-- ARGV[3]  the id of the new game
-- ARGV[4]  the number of its seats
-- ARGV[5]  the current time, in ms since 1970, as all times here
-- ARGV[6]  ms since <looked> for which a table is offered
-- ARGV[7]  ms for which a seat is reserved
-- ARGV[8]  the game that the seeker leaves, or empty
-- ARGV[9]  ms until the list expires
-- ARGV[10] the maximum of tables to examine
--
-- Returns {game, seat, 1}; the last is 0 if the table of the claim is not offered any more.

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

-- Reserves the first free seat of a table, and returns it; nil if there is none.
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
  -- Without a reservation the seeker may have taken the seat, so no other seat may be reserved.
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
