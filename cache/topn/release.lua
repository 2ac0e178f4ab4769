-- KEYS[1]: lease. ARGV: token. Never takes away a lease that now belongs to another.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
