-- ARGV: format, mode, members.
-- Reply: the state, then lists with an item per member: its key, position from 0, tied rank; '' and zeros when it is not
-- in the copy; and the dense rank, 0 when it is too deep to count or the mode does not tell it.
local c, why = copy()
if not c then return { why } end
local keys, positions, ties, wanted, last = {}, {}, {}, {}, -1
for i = 3, #ARGV do
  local key = redis.call('HGET', KEYS[2], ARGV[i])
  if key then
    local at = redis.call('ZRANK', KEYS[1], key)
    if not at then return { 'damaged' } end
    keys[i - 2], positions[i - 2], ties[i - 2] = key, at, tied(key)
    if at <= DENSE_LIMIT then wanted[at], last = true, math.max(last, at) end
  else
    keys[i - 2], positions[i - 2], ties[i - 2] = '', 0, 0
  end
end
local distinct, at = {}, tells_dense(ARGV[2]) and dense(wanted, last) or {}
for i = 1, #keys do distinct[i] = keys[i] ~= '' and at[positions[i]] or 0 end
return answer(c, keys, positions, ties, distinct)
