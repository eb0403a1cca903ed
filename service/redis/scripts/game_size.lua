#!lua flags=no-writes
-- Returns the memory that a game uses: its state, its events, its hint and its review.
--
-- KEYS[1]  string  the state
-- KEYS[2]  list    the events
-- KEYS[3]  string  the hint
-- KEYS[4]  string  the review
--
-- Returns the bytes; 0 for a game that does not exist, or if the server does not allow the command.

local bytes = 0
for _, key in ipairs(KEYS) do
  -- SAMPLES 0 counts all nodes of the list. They are few, since each has some kilobytes.
  local used = redis.pcall('MEMORY', 'USAGE', key, 'SAMPLES', 0)
  if type(used) == 'number' then
    bytes = bytes + used
  end
end
return bytes
