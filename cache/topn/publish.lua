-- KEYS: top, key, meta, temporary top, temporary key. ARGV: format, seq, as_of, total, n, floor, build_started, ttl in ms,
-- token of the build. Reply: published, refused (the copy in place is newer) or expired (the temporary keys have changed
-- since they were written), and the seq that was in place.
local c, why = copy()
if c and redis.call('HGET', KEYS[3], 'build') == ARGV[9] then
  return { 'published', c.seq } -- the client repeats a command whose answer was lost
end
local n = tonumber(ARGV[5])
if size('ZCARD', KEYS[4]) ~= n or size('HLEN', KEYS[5]) ~= n then return { 'expired', '0' } end
if c and less(ARGV[2], c.seq) then return { 'refused', c.seq } end
if why == 'format' then
  -- A newer version of this program wrote it; the older one, about to be replaced, leaves it alone.
  local theirs, ours = redis.call('HGET', KEYS[3], 'format'):match('^%d+'), ARGV[1]:match('^%d+')
  if theirs and tonumber(theirs) > tonumber(ours) then return { 'refused', '0' } end
end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
if n > 0 then
  redis.call('RENAME', KEYS[4], KEYS[1])
  redis.call('RENAME', KEYS[5], KEYS[2])
end
local t = redis.call('TIME')
local now = string.format('%d%06d', tonumber(t[1]), tonumber(t[2]))
redis.call('HSET', KEYS[3], 'format', ARGV[1], 'seq', ARGV[2], 'as_of', ARGV[3], 'total', ARGV[4], 'n', ARGV[5],
  'floor', ARGV[6], 'built_at', now, 'build_started', ARGV[7], 'build', ARGV[9])
local ends = string.format('%d', tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000) + tonumber(ARGV[8]))
for i = 1, 3 do redis.call('PEXPIREAT', KEYS[i], ends) end
return { 'published', c and c.seq or '0' }
