-- ARGV: id of the board, its version, ms to live, format, listing ('' for none): keeps a listing unless a newer version
-- of the board is known. Without an id: the stored board is gone, whatever its version.
local was = redis.call('HMGET', KEYS[1], 'id', 'version')
local id, version = ARGV[1], ARGV[2]
if id == '' then
  id = was[1] or '0'
elseif was[1] then
  local older = tonumber(was[1]) - tonumber(id)
  if older > 0 or (older == 0 and tonumber(was[2]) > tonumber(version)) then return 0 end
end
redis.call('HSET', KEYS[1], 'id', id, 'version', version, 'format', ARGV[4], 'listing', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
