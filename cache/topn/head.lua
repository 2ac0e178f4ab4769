-- Ahead of every script that looks at a copy. KEYS[1..3]: top, key, meta. ARGV[1]: the format that the caller knows.
-- Numbers that may exceed 2^53 (seq, times, totals) stay decimal strings. Strings are never compared with <, which
-- follows the locale of the server.

local DENSE_LIMIT = 10000 -- positions that one read may count through, about 3 ms of Redis

local function size(command, key)
  local n = redis.pcall(command, key)
  if type(n) == 'table' then return -1 end -- a value of another type
  return n
end

local function before(a, b) -- in byte order
  local n = math.min(#a, #b)
  for i = 1, n do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

local function less(a, b) -- of non-negative decimals
  if #a ~= #b then return #a < #b end
  return before(a, b)
end

-- decimal(s) is true if s is a number as this program writes it: 0 to 2^63-1, without zeros ahead.
local function decimal(s)
  return s and (s == '0' or s:match('^[1-9]%d*$')) and not less('9223372036854775807', s)
end

local META = { 'format', 'seq', 'as_of', 'total', 'n', 'floor', 'built_at', 'build_started' }
local NUMBERS = { 2, 3, 4, 5, 7, 8 } -- of META
local KEY_LEN = 25 -- of the shortest sort key

-- copy() returns the state in place, or nil and the reason: missing, format, damaged. Any content that this program
-- does not write is damage, so that nothing is ever compared with garbage: a damaged copy refuses no build.
local function copy()
  local m = redis.pcall('HMGET', KEYS[3], unpack(META))
  if m.err then return nil, 'damaged' end
  if not m[1] then return nil, m[2] and 'damaged' or 'missing' end
  if not m[1]:match('^%d+%l+$') then return nil, 'damaged' end
  if m[1] ~= ARGV[1] then return nil, 'format' end
  for _, i in ipairs(NUMBERS) do
    if not decimal(m[i]) then return nil, 'damaged' end
  end
  local n, complete, floor = tonumber(m[5]), m[4] == m[5], m[6] or ''
  if less(m[4], m[5]) or (not complete and #floor < KEY_LEN) then return nil, 'damaged' end
  if size('ZCARD', KEYS[1]) ~= n or size('HLEN', KEYS[2]) ~= n then return nil, 'damaged' end
  return {
    seq = m[2], as_of = m[3], total = m[4], n = n, floor = floor, complete = complete, built_at = m[7], build_started = m[8],
  }
end

-- answer() is the beginning of every reply to a read.
local function answer(c, ...)
  return { 'ok', c.seq, c.as_of, c.total, c.n, c.floor, redis.call('PTTL', KEYS[3]), ... }
end

-- dense() reads the positions up to the greatest of wanted and maps each to 1 + the number of better distinct
-- (score, tiebreak). wanted: set of positions from 0.
local function dense(wanted, last)
  local out, count, previous = {}, 0, nil
  for at = 0, last, 512 do
    local keys = redis.call('ZRANGE', KEYS[1], at, math.min(at + 511, last))
    for i = 1, #keys do
      local prefix = keys[i]:sub(1, 16)
      if prefix ~= previous then count, previous = count + 1, prefix end
      if wanted[at + i - 1] then out[at + i - 1] = count end
    end
  end
  return out
end

local function tells_dense(mode) return mode == 'dense' or mode == 'all' end

local function tied(key)
  return redis.call('ZLEXCOUNT', KEYS[1], '-', '(' .. key:sub(1, 16)) + 1
end
