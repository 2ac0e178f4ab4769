-- ARGV: format, members.
-- Reply: the state, then a list with the key of each member, '' when it is not in the copy.
local c, why = copy()
if not c then return { why } end
local keys = {}
for from = 2, #ARGV, 1000 do -- as many values as unpack may return at once
  local part = redis.call('HMGET', KEYS[2], unpack(ARGV, from, math.min(from + 999, #ARGV)))
  for i = 1, #part do keys[#keys + 1] = part[i] or '' end
end
return answer(c, keys)
