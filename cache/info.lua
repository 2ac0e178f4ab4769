-- ARGV: format. Reply: time of this server, why there is no copy to use ('' when there is one), and if there is one
-- its state and the moments at which its build was published and started.
local now = redis.call('TIME')
now = string.format('%d%06d', tonumber(now[1]), tonumber(now[2]))
local c, why = copy()
if not c then return { now, why } end
local m = redis.call('HMGET', KEYS[3], 'built_at', 'build_started')
return { now, '', answer(c, m[1] or '0', m[2] or '0') }
