-- Write what a committed checkpoint changed: all of it, or nothing where another state is stored than it changes.
-- KEYS[1] the partition's hash. ARGV: how many ids may stand stored, these ids, the new id, the new manifest, how many
-- sessions are put, these as field and bytes in turn, then the session fields to drop. Returns 1, or 0: nothing was
-- written.
local stored = redis.call('HMGET', KEYS[1], 'i')[1]
local ids = tonumber(ARGV[1])
local follows = false
for at = 2, 1 + ids do
  follows = follows or stored == ARGV[at]
end
if not follows then
  return 0
end
-- HSET comes first: a Redis out of memory refuses a script's first such command, and then nothing was written; later
-- ones it lets through.
redis.call('HSET', KEYS[1], 'i', ARGV[ids + 2], 'm', ARGV[ids + 3])
-- unpack puts its values on Lua's stack, which holds fewer than 8000.
local step = 2000
local first, last = ids + 5, ids + 4 + 2 * tonumber(ARGV[ids + 4])
for from = first, last, step do
  redis.call('HSET', KEYS[1], unpack(ARGV, from, math.min(from + step - 1, last)))
end
for from = last + 1, #ARGV, step do
  redis.call('HDEL', KEYS[1], unpack(ARGV, from, math.min(from + step - 1, #ARGV)))
end
return 1
