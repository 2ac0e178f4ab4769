-- ARGV: ttl in ms. Gives the three keys one new end.
local t = redis.call('TIME')
local ends = string.format('%d', tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000) + tonumber(ARGV[1]))
if redis.call('EXISTS', KEYS[3]) == 0 then return 0 end
for i = 1, 3 do redis.call('PEXPIREAT', KEYS[i], ends) end
return 1
