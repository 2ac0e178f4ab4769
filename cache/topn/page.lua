-- ARGV: format, mode, limit, kind (offset, after, around), its value, entries ahead of the member.
-- Reply: the state, position of the first entry (-1: the member has none), its tied rank, its dense rank as members.lua
-- has it, the keys.
local c, why = copy()
if not c then return { why } end
local limit, start = tonumber(ARGV[3]), 0
if ARGV[4] == 'offset' then
  start = tonumber(ARGV[5])
elseif ARGV[4] == 'after' then
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
local distinct = tells_dense(ARGV[2]) and start <= DENSE_LIMIT and dense({ [start] = true }, start)[start] or 0
return answer(c, start, tied(keys[1]), distinct, keys)
