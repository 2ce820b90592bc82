-- The turn of a process: those that want to decide on a surface queue, and the first of the queue has the turn. Its write ends the turn.
--
-- KEYS: the state of the surface, the queue (each process by when it joined), until when each is believed to be alive, the processes that
-- share the state. ARGV: the process, its lease in microseconds, and, to write: when it joined, the next state.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local recent, day = 600 * 1000000, 86400

for _, process in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do -- it died, or stopped for too long
  redis.call('ZREM', KEYS[2], process)
  redis.call('ZREM', KEYS[3], process)
end
local head = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
if head and not redis.call('ZSCORE', KEYS[3], head) then -- the other key was evicted, and nobody would end its turn
  redis.call('ZREM', KEYS[2], head)
end

if ARGV[3] then
  local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  if first[1] ~= ARGV[1] or tonumber(first[2]) ~= tonumber(ARGV[3]) then
    return 0
  end
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('SET', KEYS[1], ARGV[4], 'EX', 2 * day)
  return 1
end

redis.call('ZADD', KEYS[2], 'NX', now, ARGV[1])
redis.call('ZADD', KEYS[3], now + ARGV[2], ARGV[1])
redis.call('EXPIRE', KEYS[2], day)
redis.call('EXPIRE', KEYS[3], day)
local ahead = redis.call('ZRANK', KEYS[2], ARGV[1])
if ahead > 0 then
  return { ahead }
end
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now - recent)
redis.call('ZADD', KEYS[4], now, ARGV[1])
redis.call('EXPIRE', KEYS[4], 2 * day)
return { 0, redis.call('ZSCORE', KEYS[2], ARGV[1]), now, redis.call('ZCARD', KEYS[4]), redis.call('GET', KEYS[1]) or '' }
