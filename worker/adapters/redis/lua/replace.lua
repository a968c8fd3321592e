-- Put what was prepared, and the last of it, in the place of whatever is stored of a partition.
-- KEYS[1] the partition's hash; KEYS[2] what was prepared. ARGV: how many sessions were prepared, the new id, the new
-- manifest, how many sessions are put, these as field and bytes in turn, then the session fields to drop. Returns 1, or
-- 0 where something of what was prepared is missing: nothing was changed then.
if redis.call('HLEN', KEYS[2]) ~= tonumber(ARGV[1]) then
  return 0
end
redis.call('HSET', KEYS[2], 'i', ARGV[2], 'm', ARGV[3])
local step = 2000
local first, last = 5, 4 + 2 * tonumber(ARGV[4])
for from = first, last, step do
  redis.call('HSET', KEYS[2], unpack(ARGV, from, math.min(from + step - 1, last)))
end
for from = last + 1, #ARGV, step do
  redis.call('HDEL', KEYS[2], unpack(ARGV, from, math.min(from + step - 1, #ARGV)))
end
redis.call('PERSIST', KEYS[2])
redis.call('RENAME', KEYS[2], KEYS[1])
return 1
