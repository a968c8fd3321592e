-- Write one checkpoint of a partition: all of it, or nothing where the writer was fenced off or lost its thread.
-- KEYS[1] the partition's hash. ARGV: token, the id that the stored manifest must have ('' for none), the new id, the
-- new manifest, how many values are put, these as session field and bytes in turn, then the session fields to drop.
-- Returns 1, or 0 where nothing was written.
local stored = redis.call('HMGET', KEYS[1], 't', 'i')
if stored[1] ~= ARGV[1] or (stored[2] or '') ~= ARGV[2] then
  return 0
end
-- HSET comes first: a Redis out of memory refuses a script's first such command, and then nothing was written; later
-- ones it lets through.
redis.call('HSET', KEYS[1], 'i', ARGV[3], 'm', ARGV[4])
-- unpack puts its values on Lua's stack, which holds fewer than 8000.
local step = 2000
local first, last = 6, 5 + 2 * tonumber(ARGV[5])
for from = first, last, step do
  redis.call('HSET', KEYS[1], unpack(ARGV, from, math.min(from + step - 1, last)))
end
for from = last + 1, #ARGV, step do
  redis.call('HDEL', KEYS[1], unpack(ARGV, from, math.min(from + step - 1, #ARGV)))
end
return 1
