#!lua flags=no-writes
-- Returns how far the index of an application has followed a game.
--
-- KEYS[1]  hash  the entries of the index (script "index")
-- KEYS[2]  set   the endpoints that are notified
-- ARGV[1]  the id of the game
--
-- Returns {version, id of the write, endpoint, …}; version "0" for a game that the index does not know.

local version, write = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '0 -', '^(%d+) (%S+)')
return {version, write, unpack(redis.call('SMEMBERS', KEYS[2]))}
