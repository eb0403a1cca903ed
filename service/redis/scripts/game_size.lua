#!lua flags=no-writes
-- Returns how many bytes the server uses for a game: its state, its events, its hint and its review.
--
-- KEYS[1]  string  the state
-- KEYS[2]  list    the events
-- KEYS[3]  string  the hint
-- KEYS[4]  string  the review
--
-- Returns the bytes; 0 for a game that does not exist, and where the server does not tell.

local bytes = 0
for _, key in ipairs(KEYS) do
  -- All nodes of the list are counted, which are few: each has some kilobytes.
  local used = redis.pcall('MEMORY', 'USAGE', key, 'SAMPLES', 0)
  if type(used) == 'number' then
    bytes = bytes + used
  end
end
return bytes
