-- Takes tokens out of a bucket. Nothing is counted twice: an asker who repeats a number gets the answer that he got.
--
-- KEYS  1 the bucket: a hash of level (tokens, below 0 a debt) and at (µs, of this server's clock)
--       2 the last answer to the asker: "number granted"
-- ARGV  1 tokens a second  2 tokens that fit  3 tokens used already, charged in any case
--       4 tokens wanted ahead, granted as far as there are some  5 number of this lease  6 ms that the answer is kept
--       7 1: they are wanted together, all or none; more than fit go through a full bucket, and leave the debt
-- Returns the granted tokens and the rest, both as text: Lua would cut the fractions off.
local rate, burst, used, ahead = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local level = burst
local known = redis.call('HMGET', KEYS[1], 'level', 'at')
if known[1] and known[2] then
  -- a clock that was set back gives nothing for the time that it repeats
  level = math.min(burst, tonumber(known[1]) + math.max(0, now - tonumber(known[2])) * rate / 1000000)
end
local number, answer = string.match(redis.call('GET', KEYS[2]) or '', '^(%S+) (%S+)$')
if number == ARGV[5] then
  return {answer, string.format('%.6f', level)}
end
level = level - used
local granted = math.max(0, math.min(ahead, level))
if ARGV[7] == '1' then
  granted = level + 0.001 >= math.min(ahead, burst) and ahead or 0
end
level = level - granted
local text = string.format('%.6f', granted)
redis.call('HSET', KEYS[1], 'level', string.format('%.6f', level), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - level) / rate * 1000) + 1000)
redis.call('SET', KEYS[2], ARGV[5] .. ' ' .. text, 'PX', ARGV[6])
return {text, string.format('%.6f', level)}
