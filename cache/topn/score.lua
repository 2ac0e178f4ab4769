-- ARGV: format, 16-byte prefix of the score and tiebreak.
-- Reply: the state, entries that are better, entries that are as good or better.
local c, why = copy()
if not c then return { why } end
local better = redis.call('ZLEXCOUNT', KEYS[1], '-', '(' .. ARGV[2])
-- The byte after the prefix begins a time since 1970 and is never 255.
local as_good = redis.call('ZLEXCOUNT', KEYS[1], '-', '(' .. ARGV[2] .. '\255')
return answer(c, better, as_good)
