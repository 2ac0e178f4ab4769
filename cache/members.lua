-- ARGV: format, mode, members.
-- Reply: the state, then per member its key, position from 0, tied rank and dense rank (0 in other modes); '' and zeros
-- when it is not in the copy.
local c, why = copy()
if not c then return { why } end
local keys, places, ties, wanted, last = {}, {}, {}, {}, -1
for i = 3, #ARGV do
  local key = redis.call('HGET', KEYS[2], ARGV[i])
  if key then
    local at = redis.call('ZRANK', KEYS[1], key)
    if not at then return { 'damaged' } end
    keys[i - 2], places[i - 2], ties[i - 2] = key, at, tied(key)
    wanted[at], last = true, math.max(last, at)
  else
    keys[i - 2], places[i - 2], ties[i - 2] = '', 0, 0
  end
end
local distinct = {}
if ARGV[2] == 'dense' then
  if last > DENSE_LIMIT then return { 'uncovered' } end
  local at = dense(wanted, last)
  for i = 1, #keys do distinct[i] = keys[i] ~= '' and at[places[i]] or 0 end
end
return answer(c, keys, places, ties, distinct)
