-- The only script that answers from a copy. ARGV: format, mode, kind of read, its arguments:
--   offset   limit, entries ahead of the page
--   after    limit, sort key
--   around   limit, member, entries ahead of it
--   members  members
-- Reply: the state, then the answer, described below at its kind.
local c, why = copy()
if not c then return { why } end
local mode, what = ARGV[2], ARGV[3]

-- ranks() returns the tied and dense ranks of entries; a dense rank is 0 if it is too deep to count or the mode does
-- not show it. keys: '' for a missing entry; at: their positions from 0.
local function ranks(keys, at)
  local ties, distinct, wanted, last = {}, {}, {}, -1
  for i = 1, #keys do
    ties[i] = keys[i] ~= '' and tied(keys[i]) or 0
    if keys[i] ~= '' and at[i] <= DENSE_LIMIT then wanted[at[i]], last = true, math.max(last, at[i]) end
  end
  local counted = tells_dense(mode) and dense(wanted, last) or {}
  for i = 1, #keys do distinct[i] = keys[i] ~= '' and counted[at[i]] or 0 end
  return ties, distinct
end

if what == 'members' then -- of each member: key, position from 0, tied and dense rank; '' and zeros when it is not in the copy
  local keys, at = {}, {}
  for i = 4, #ARGV do
    local key = redis.call('HGET', KEYS[2], ARGV[i])
    local position = key and redis.call('ZRANK', KEYS[1], key)
    if key and not position then return { 'damaged' } end
    keys[i - 3], at[i - 3] = key or '', position or 0
  end
  return answer(c, keys, at, ranks(keys, at))
end

-- A page: the position of its first entry (-1: the member has no entry), its tied and dense rank, the keys.
local limit, start = tonumber(ARGV[4]), 0
if what == 'offset' then
  start = tonumber(ARGV[5])
elseif what == 'after' then
  start = redis.call('ZLEXCOUNT', KEYS[1], '-', '[' .. ARGV[5])
else
  local key = redis.call('HGET', KEYS[2], ARGV[5])
  if not key then return answer(c, -1, 0, 0, {}) end
  local at = redis.call('ZRANK', KEYS[1], key)
  if not at then return { 'damaged' } end
  start = math.max(0, math.min(at - tonumber(ARGV[6]), tonumber(c.total) - limit))
end
if limit == 0 or start >= c.n then return answer(c, start, 0, 0, {}) end
local keys = redis.call('ZRANGE', KEYS[1], start, start + limit - 1)
local ties, distinct = ranks({ keys[1] }, { start })
return answer(c, start, ties[1], distinct[1], keys)
