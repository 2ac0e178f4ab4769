-- ARGV: format, a sort key ('' for none), count. Reply: the state with the moment at which its build was published, the
-- next sort keys after the given one, and a member among them for which the two parts of the copy disagree ('' for
-- none).
local c, why = copy()
if not c then return { why } end
local keys = redis.call('ZRANGE', KEYS[1], ARGV[2] == '' and '-' or '(' .. ARGV[2], '+', 'BYLEX', 'LIMIT', 0, tonumber(ARGV[3]))
local odd = ''
for i = 1, #keys do
  local member = keys[i]:sub(KEY_LEN)
  if odd == '' and redis.call('HGET', KEYS[2], member) ~= keys[i] then odd = member end
end
return answer(c, c.built_at, keys, odd)
