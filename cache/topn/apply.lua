-- ARGV: format, from, as_of of from, to, as_of of to, total at to, top_n, slack, then member and key pairs ('' when the
-- member no longer has an entry). Each pair is absolute: the member's key at to. Reply: the effect, n.
local TRIM_STEP = 1000
local c, why = copy()
if why == 'damaged' then redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3]) end
if not c then return { why, 0 } end
local from, to = ARGV[2], ARGV[4]
if (c.seq == from and c.as_of ~= ARGV[3]) or (c.seq == to and c.as_of ~= ARGV[5]) then
  redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
  return { 'diverged', 0 }
end
if not less(c.seq, to) then return { 'current', c.n } end
if c.seq ~= from then return { 'gap', c.n } end

for i = 9, #ARGV, 2 do
  local member, key = ARGV[i], ARGV[i + 1]
  if key ~= '' and not c.complete and before(c.floor, key) then key = '' end -- below what the copy covers
  local old = redis.call('HGET', KEYS[2], member)
  if old and old ~= key then redis.call('ZREM', KEYS[1], old) end
  if key ~= '' then
    redis.call('ZADD', KEYS[1], 0, key)
    redis.call('HSET', KEYS[2], member, key)
  elseif old then
    redis.call('HDEL', KEYS[2], member)
  end
end

local n = redis.call('ZCARD', KEYS[1])
if (c.complete and string.format('%d', n) ~= ARGV[6]) or less(ARGV[6], string.format('%d', n)) then
  -- The entries contradict the count of the same commit: not a copy of this period.
  redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
  return { 'damaged', 0 }
end
local keep, slack = tonumber(ARGV[7]), tonumber(ARGV[8])
if n > keep + 2 * slack then
  -- Trim a bounded number at once: the slack of a large copy, or the excess over a smaller top_n, would block Redis for
  -- long.
  local rest = math.max(keep + slack, n - math.max(TRIM_STEP, #ARGV))
  local over = redis.call('ZRANGE', KEYS[1], rest, -1)
  redis.call('ZREMRANGEBYRANK', KEYS[1], rest, -1)
  for i = 1, #over do redis.call('HDEL', KEYS[2], over[i]:sub(KEY_LEN)) end
  n = rest
  c.floor = redis.call('ZRANGE', KEYS[1], -1, -1)[1]
end
redis.call('HSET', KEYS[3], 'seq', to, 'as_of', ARGV[5], 'total', ARGV[6], 'n', n, 'floor', c.floor)
-- A key that was emptied on the way, or is new, has lost its end; the three end together.
local ends = redis.call('PEXPIRETIME', KEYS[3])
for i = 1, 2 do
  if ends > 0 and redis.call('PTTL', KEYS[i]) == -1 then redis.call('PEXPIREAT', KEYS[i], ends) end
end
if n < keep and string.format('%d', n) ~= ARGV[6] then return { 'short', n } end
return { 'applied', n }
