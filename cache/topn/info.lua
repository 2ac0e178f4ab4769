-- ARGV: format. Reply: time of this server, why there is no copy to use ('' when there is one), and if there is one
-- its state and the moments at which its build was published and started.
local now = redis.call('TIME')
now = string.format('%d%06d', tonumber(now[1]), tonumber(now[2]))
local c, why = copy()
if not c then return { now, why } end
return { now, '', answer(c, c.built_at, c.build_started) }
