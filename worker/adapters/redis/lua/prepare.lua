-- Put sessions aside for a full write; what is never used expires.
-- KEYS[1] the hash that is prepared. ARGV: its seconds to live, then fields and bytes in turn.
local step = 2000
for from = 2, #ARGV, step do
  redis.call('HSET', KEYS[1], unpack(ARGV, from, math.min(from + step - 1, #ARGV)))
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
