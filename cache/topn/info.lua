-- ARGV: format. Reply: time of this server, and the state with the moments at which its build was published and started.
local now = redis.call('TIME')
now = string.format('%d%06d', tonumber(now[1]), tonumber(now[2]))
local c, why = copy()
return { now, c and answer(c, c.built_at, c.build_started) or { why } }
