#!lua
-- Replaces the entry of a game in the index of its application, adds items to the feed, and makes the game due to the
-- endpoints that are sent messages about its new events.
--
-- KEYS[1]  hash  the entries of the index. Its name without ":index" is the channel of the application and the prefix
--                of its other keys, which the script may use because all are in one slot
-- KEYS[2]  sorted set  the reminders of endpoints of the shard of the application
-- ARGV[1]  the id of the application
-- ARGV[2]  the id of the game
-- ARGV[3]  the expected "<version> <id of the write>" of the current entry, or "0 -" for no entry
-- ARGV[4]  the head of the new entry: "<version> <id of the write> <updated_at> <status> <variant> <ref> <players>
--          <bytes> <expires_at>"; empty to remove the entry. With the status "deleted", no list has the game any more
-- ARGV[5]  the summary
-- ARGV[6]  the time of the last write to the game, in ms since 1970
-- ARGV[7]  the longest life of a game in seconds, after which all keys expire
-- ARGV[8]  the maximum of expired games to remove
-- ARGV[9]  the number of items that the feed keeps
-- ARGV[10] the version up to which endpoints count as notified, if the game was not due to them before
-- ARGV[11] 1 to set these endpoints, and all to which the game is due, to this version, so that they are notified of
--          later ones again, else 0
-- ARGV[12] the number of players with a ref
-- ARGV[13] the number of types of messages about the new events
-- ARGV[14…] for each player: the digest of its ref, and the urgency of the game for it; empty if it does not wait
-- ARGV[…]  the types of messages
-- ARGV[…]  the items of the feed
--
-- An entry is its head, a line feed, and the summary. In the head, <ref> is a digest or "-", <players> are digests with
-- commas or "-", <bytes> is the size of the game, and <expires_at> is also its score in the sorted set ":ends". The sum
-- of all sizes is stored in ":bytes".
-- Returns the ids of the endpoints that the game was made due to, as a list; 0, without a change, if the current entry
-- is not as expected.
-- Times are small enough for exact doubles (2^53).

local base = string.sub(KEYS[1], 1, -#':index' - 1)
local app, game, ttl = ARGV[1], ARGV[2], ARGV[7]
local players, types = tonumber(ARGV[12]), tonumber(ARGV[13])

local function parse(entry)
  local version, write, updated, status, variant, ref, refs, bytes, ends = string.match(
    entry or '0 - 0 - - - - 0 0', '^(%d+) (%S+) (%d+) (%S+) (%S+) (%S+) (%S+) (%d+) (%d+)')
  return {at = version .. ' ' .. write, ref = ref, players = refs, bytes = tonumber(bytes), ends = ends}
end

-- Removes a game from all lists but those in keep, a set of names.
local function unlist(each, entry, keep)
  local function remove(name)
    if not keep[name] then
      redis.call('ZREM', base .. name, each)
    end
  end
  remove(':games')
  remove(':ends')
  remove(':gone')
  if entry.ref ~= '-' then
    remove(':ref:' .. entry.ref)
  end
  if entry.players ~= '-' then
    for digest in string.gmatch(entry.players, '[^,]+') do
      remove(':player:' .. digest)
      remove(':waiting:' .. digest)
    end
  end
end

local before = parse(redis.call('HGET', KEYS[1], game))
if before.at ~= ARGV[3] then
  return 0
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local growth = 0 - before.bytes  -- not -0, which is no integer as text

-- Remove games that expired a day ago. Not earlier: a game that was written again lives on, even if that was not
-- published yet, and without its entry all of its events would be published again.
for list, ended in pairs({[base .. ':ends'] = now - 86400000, [base .. ':gone'] = now - ttl * 1000}) do
  local expired = redis.call('ZRANGE', list, '-inf', string.format('%.0f', ended), 'BYSCORE', 'LIMIT', 0, ARGV[8])
  for _, each in ipairs(expired) do
    local entry = parse(redis.call('HGET', KEYS[1], each))
    unlist(each, entry, {})
    if each ~= game then
      growth = growth - entry.bytes
    end
    redis.call('ZREM', list, each)
    redis.call('HDEL', KEYS[1], each)
    for _, endpoint in ipairs(redis.call('SMEMBERS', base .. ':endpoints')) do
      redis.call('ZREM', base .. ':webhook:' .. endpoint .. ':due', each)
      redis.call('HDEL', base .. ':webhook:' .. endpoint .. ':notified', each)
    end
  end
end

local function add(keep, name, score)
  keep[name] = true
  redis.call('ZADD', base .. name, score, game)
  redis.call('EXPIRE', base .. name, ttl)
end

local keep = {}
if ARGV[4] == '' then
  redis.call('HDEL', KEYS[1], game)
else
  local after = parse(ARGV[4])
  growth = growth + after.bytes
  if string.match(ARGV[4], '^%d+ %S+ %d+ deleted ') then
    add(keep, ':gone', now)
  else
    add(keep, ':games', ARGV[6])
    add(keep, ':ends', after.ends)
    if after.ref ~= '-' then
      add(keep, ':ref:' .. after.ref, ARGV[6])
    end
    for i = 0, players - 1 do
      local digest, urgency = ARGV[14 + 2 * i], ARGV[15 + 2 * i]
      add(keep, ':player:' .. digest, ARGV[6])
      if urgency ~= '' then
        add(keep, ':waiting:' .. digest, urgency)
      end
    end
  end
  redis.call('HSET', KEYS[1], game, ARGV[4] .. '\n' .. ARGV[5])
  redis.call('EXPIRE', KEYS[1], ttl)
end
unlist(game, before, keep)
redis.call('INCRBY', base .. ':bytes', string.format('%.0f', growth))
redis.call('EXPIRE', base .. ':bytes', ttl)

local first = 14 + 2 * players
local is_new = {}
for i = first, first + types - 1 do
  is_new[ARGV[i]] = true
end

-- Returns whether messages about the new events are sent to an endpoint.
local function wants(endpoint)
  local value = redis.call('HGET', base .. ':webhooks', endpoint)
  for _, kind in ipairs(value and cjson.decode(value).events or {}) do
    if is_new[kind] then
      return true
    end
  end
  return false
end

local made_due = {}
local again = ARGV[11] == '1'
for _, endpoint in ipairs((types > 0 or again) and redis.call('SMEMBERS', base .. ':endpoints') or {}) do
  local due, notified = base .. ':webhook:' .. endpoint .. ':due', base .. ':webhook:' .. endpoint .. ':notified'
  local score = redis.call('ZSCORE', due, game)
  if wants(endpoint) or again and score then
    made_due[#made_due + 1] = endpoint
    redis.call(again and 'HSET' or 'HSETNX', notified, game, ARGV[10])
    -- The score must change, so that the process that delivers sees the new events. A pause after a failure stays.
    local at = score and math.max(now, math.floor(score) + 1) or now
    redis.call('ZADD', due, at, game)
    redis.call('EXPIRE', due, ttl)
    redis.call('EXPIRE', notified, ttl)
    -- A score with a fraction is a lease. The process that has it looks for new events before it ends.
    local member = app .. '.' .. endpoint
    local reminder = tonumber(redis.call('ZSCORE', KEYS[2], member) or at + 1)
    if at < reminder and reminder % 1 == 0 then
      redis.call('ZADD', KEYS[2], at, member)
    end
  end
end

local feed = base .. ':feed'
for i = first + types, #ARGV do
  redis.call('XADD', feed, 'MAXLEN', '~', ARGV[9], '*', 'item', ARGV[i], 'game', game)
end
if first + types <= #ARGV then
  redis.call('EXPIRE', feed, ttl)
  -- A notification is only a hint: the write succeeds even if the server does not allow publishing.
  redis.pcall('SPUBLISH', base, '')
end
return made_due
