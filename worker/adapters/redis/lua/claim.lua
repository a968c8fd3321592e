-- Claim a partition: raise its fencing token above both the stored one and the committed one.
-- KEYS[1] the partition's hash; ARGV[1] the token to be above. Returns the new token and the manifest, if any.
local stored = redis.call('HMGET', KEYS[1], 't', 'm')
local token = math.max(tonumber(stored[1] or '0'), tonumber(ARGV[1])) + 1
redis.call('HSET', KEYS[1], 't', string.format('%.0f', token))
return { token, stored[2] }
