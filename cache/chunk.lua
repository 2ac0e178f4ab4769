-- ARGV: format, first position, count. Reply: the state, keys from that position on, and what the hash says about
-- their members.
local c, why = copy()
if not c then return { why } end
local first = tonumber(ARGV[2])
local keys = redis.call('ZRANGE', KEYS[1], first, first + tonumber(ARGV[3]) - 1)
local held = {}
for i = 1, #keys do held[i] = redis.call('HGET', KEYS[2], keys[i]:sub(25)) or '' end
return answer(c, keys, held)
