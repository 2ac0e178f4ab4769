-- KEYS[1]: lease. ARGV: token, ttl in ms. 1 when the lease is still the caller's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
