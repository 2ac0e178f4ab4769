-- ARGV: format (not looked at), seq, as_of: drops the copy if it is at this very state; without a seq, whatever it is.
if ARGV[2] ~= '' then
  local m = redis.call('HMGET', KEYS[3], 'seq', 'as_of')
  if m[1] ~= ARGV[2] or m[2] ~= ARGV[3] then return 0 end
end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
return 1
