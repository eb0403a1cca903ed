#!lua
-- Shows a game in a lobby, or hides it, unless the lobby has an entry of a newer version.
--
-- KEYS[1]  hash  the entries of the lobby: game → "<version> <until> <variant> <application>"; for a game that is shown
--                followed by a line feed and its JSON
-- KEYS[2]  sorted set  the games, by the time at which their entries expire, in ms since 1970
-- KEYS[3]  sorted set  the list of the games that are shown, by the time of their creation
-- ARGV[1]  the id of the game
-- ARGV[2]  its version
-- ARGV[3]  its variant, which is ignored if the lobby has an entry of the game
-- ARGV[4]  the id of its application, which is ignored then, too
-- ARGV[5]  the time of its creation, in ms since 1970
-- ARGV[6]  ms until the entry expires
-- ARGV[7]  the maximum of games of an application in a list: the newest
-- ARGV[8]  the maximum of games of an application in the lobby: the newest
-- ARGV[9]  the maximum of expired entries to remove
-- ARGV[10] the JSON; empty to hide the game. The entry of a hidden game is stored as long as any other
--
-- The games of each variant have a list of their own, with the name of KEYS[3] and ":<variant>". Each list has a sorted
-- set for each application with all of its games that belong into the list, even beyond the maximum. The name of the
-- set is that of the list, "@" and the id of the application. When a game leaves the list, the next game of its
-- application enters. So the work does not depend on the number of games.
-- Returns 1 if the lobby stores the game as shown, else 0.

local room = tonumber(ARGV[7])

local function add(name, created, game)
  redis.call('ZADD', name, created, game)
  redis.call('PEXPIRE', name, ARGV[6])
end

local function lists(variant)
  return {KEYS[3], KEYS[3] .. ':' .. variant}
end

local function enter(list, app, game, created)
  local own = list .. '@' .. app
  add(own, created, game)
  if redis.call('ZREVRANK', own, game) < room then
    add(list, created, game)
    local last = redis.call('ZRANGE', own, room, room, 'REV')[1]
    if last then
      redis.call('ZREM', list, last)
    end
  end
end

local function leave(list, app, game)
  local own = list .. '@' .. app
  redis.call('ZREM', own, game)
  if redis.call('ZREM', list, game) == 1 then
    local following = redis.call('ZRANGE', own, room - 1, room - 1, 'REV', 'WITHSCORES')
    if following[1] then
      add(list, following[2], following[1])
    end
  end
end

local function end_entry(game)
  local variant, app = string.match(redis.call('HGET', KEYS[1], game) or '', '^%d+ %d+ (%S+) (%S+)')
  redis.call('HDEL', KEYS[1], game)
  redis.call('ZREM', KEYS[2], game)
  if variant then
    for _, list in ipairs(lists(variant)) do
      leave(list, app, game)
    end
  end
end

local game = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, each in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[9])) do
  end_entry(each)
end

local known, variant, app = string.match(redis.call('HGET', KEYS[1], game) or '', '^(%d+) %d+ (%S+) (%S+)')
if known and tonumber(known) > tonumber(ARGV[2]) then
  return 0
end
variant, app = variant or ARGV[3], app or ARGV[4]
local ends = now + ARGV[6]
local head = string.format('%s %.0f %s %s', ARGV[2], ends, variant, app)
redis.call('HSET', KEYS[1], game, ARGV[10] == '' and head or head .. '\n' .. ARGV[10])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
add(KEYS[2], ends, game)
local all = KEYS[3] .. '@' .. app
for _, list in ipairs(lists(variant)) do
  if ARGV[10] == '' then
    leave(list, app, game)
  else
    enter(list, app, game, ARGV[5])
  end
end
if redis.call('ZCARD', all) > tonumber(ARGV[8]) then
  end_entry(redis.call('ZRANGE', all, 0, 0)[1])
end
return redis.call('ZSCORE', all, game) and 1 or 0
