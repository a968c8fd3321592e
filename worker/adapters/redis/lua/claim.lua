-- Claim a partition: raise its fencing token above both the stored one and the committed one.
-- KEYS[1] the partition's hash; ARGV[1] the token to be above. Returns the new token, the manifest and its id, if any.
local stored = redis.call('HMGET', KEYS[1], 't', 'm', 'i')
local token = 0
-- What is no token counts as none: nothing but digits, and below what a number holds exactly.
if stored[1] and #stored[1] <= 16 and string.find(stored[1], '^%d+$') then
  token = tonumber(stored[1])
  if token > 2 ^ 53 - 2 then
    token = 0
  end
end
token = math.max(token, tonumber(ARGV[1])) + 1
redis.call('HSET', KEYS[1], 't', string.format('%.0f', token))
return { token, stored[2], stored[3] }
