#!lua flags=no-writes
-- Returns the version of a game in the index of an application.
--
-- KEYS[1]  hash  the entries of the index (script "index")
-- ARGV[1]  the id of the game
--
-- Returns {version, id of the write}; the version is "0" if the index does not have the game.

local version, write = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '0 -', '^(%d+) (%S+)')
return {version, write}
