-- KEYS[1]: lease. ARGV: token, ttl in ms. Reply: 1 when the lease is the caller's. A lease with a minute longer to go
-- than a term was taken before the clock of this server went back: its holder has died, or renews it and finds it lost.
local ttl = tonumber(ARGV[2])
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ttl) end
if redis.call('PTTL', KEYS[1]) <= ttl + 60000 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ttl)
return 1
