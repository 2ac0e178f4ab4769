-- KEYS: top, key, meta, where to clone top, where to clone key. ARGV: format, ttl of the clones in ms.
-- Reply: the state. A long copy can then be read in pieces while the copy itself moves on.
local c, why = copy()
if not c then return { why } end
for i = 1, 2 do
  if redis.call('COPY', KEYS[i], KEYS[i + 3], 'REPLACE') == 1 then redis.call('PEXPIRE', KEYS[i + 3], ARGV[2]) end
end
return answer(c)
