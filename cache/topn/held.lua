-- ARGV: format. Reply: the state. The keys of the members are read in the same transaction, by a command of their own: to
-- take a thousand values through Lua costs Redis more than to look them up.
local c, why = copy()
if not c then return { why } end
return answer(c)
