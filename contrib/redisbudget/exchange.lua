-- One exchange, with the decision of decide.lua and take.lua, which stand before this in the same script. A state is a list of doubles.
--
-- KEYS: the state of a surface, the processes that share it. ARGV: what the process says and wants, its name.

-- Lists of doubles. Each reader takes the next number of the list, each writer appends to it.

local data, at, short -- or otherwise not what it should be

local function unpackAll(blob)
  short = #blob % 8 ~= 0 or #blob > 32768
  if short then
    blob = ''
  end
  data, at = { struct.unpack('<' .. string.rep('d', #blob / 8), blob) }, 0
  data[#data] = nil -- where the reading ended
end

local function num()
  at = at + 1
  short = short or not data[at]
  return data[at] or 0
end

local function flag() return num() ~= 0 end

local function put(...)
  for i = 1, select('#', ...) do
    local v = select(i, ...)
    if v == true then
      v = 1
    elseif v == false then
      v = 0
    end
    data[#data + 1] = v
  end
end

local function packAll() return struct.pack('<' .. string.rep('d', #data), unpack(data)) end

local function readPermit()
  return { before = num(), epoch = num(), own = num(), at = num(), probe = flag(), bare = flag() }
end

local function putPermit(p) put(p.before, p.epoch, p.own, p.at, p.probe, p.bare) end

local function readObservation()
  return {
    limit = num(), remaining = num(), reset = num(), hasReset = flag(), refused = flag(), retryAfter = num(), hasRetry = flag(),
    notSent = flag(), lost = flag(), replays = num(), jitter = num(),
  }
end

local function readConfig() return { perMinute = num(), perDay = num(), reserve = num(), share = num() } end

local function readLimit()
  local limit, l = { max = num(), source = num() }, { sum = num(), faded = num(), opened = num(), past = num(), at = {}, n = {} }
  local used = num()
  short = short or used > slots or l.past > slots
  for i = 1, short and 0 or l.past + used do
    l.at[i], l.n[i] = num(), num()
  end
  return limit, l, { from = num(), by = num(), since = num() }, { missing = num(), at = num() }
end

local function readState()
  local c = readConfig()
  s = {
    config = c, reserve = c.reserve, share = c.share,
    dispatched = num(), completed = num(), lateOld = num(), lateNew = num(),
    open = { { from = num(), n = num(), trip = num() }, { from = num(), n = num(), trip = num() } },
    blindAt = num(), lateTurn = num(), pacedUntil = num(), heldUntil = num(), probeUntil = num(),
    unprovenAt = num(), unprovenTotal = num(),
    born = num(), epoch = num(), strikes = num(), heldIn = num(), roundsUp = num(), weighs = num(), refills = num(),
    tried = num(), told = flag(), silent = num(), allowed = num(),
    figures = {
      valid = flag(), remaining = num(), known = num(), mark = num(), window = num(), hasReset = flag(), at = num(), sent = num(),
      resetFrom = num(), resetBy = num(),
    },
    others = {
      low = num(), high = num(), seen = num(), mark = num(), sum = num(), span = num(), level = num(), recent = num(), burst = num(),
      slides = num(), regular = num(), at = num(), burstAt = num(), every = num(), till = num(),
    },
    limits = {}, counts = {}, edges = {}, buckets = {},
  }
  for w = Minute, Day do
    s.limits[w], s.counts[w], s.edges[w], s.buckets[w] = readLimit()
  end
end

local function putState()
  local c, f, o = s.config, s.figures, s.others
  put(c.perMinute, c.perDay, c.reserve, c.share, s.dispatched, s.completed, s.lateOld, s.lateNew)
  put(s.open[1].from, s.open[1].n, s.open[1].trip, s.open[2].from, s.open[2].n, s.open[2].trip, s.blindAt, s.lateTurn, s.pacedUntil, s.heldUntil, s.probeUntil)
  put(s.unprovenAt, s.unprovenTotal)
  put(s.born, s.epoch, s.strikes, s.heldIn, s.roundsUp, s.weighs, s.refills, s.tried, s.told, s.silent, s.allowed)
  put(f.valid, f.remaining, f.known, f.mark, f.window, f.hasReset, f.at, f.sent, f.resetFrom, f.resetBy)
  put(o.low, o.high, o.seen, o.mark, o.sum, o.span, o.level, o.recent, o.burst)
  put(o.slides, o.regular, o.at, o.burstAt, o.every, o.till)
  for w = Minute, Day do
    local l = s.counts[w]
    put(s.limits[w].max, s.limits[w].source, l.sum, l.faded, l.opened, l.past, #l.at - l.past)
    for i = 1, #l.at do
      put(l.at[i], l.n[i])
    end
    put(s.edges[w].from, s.edges[w].by, s.edges[w].since, s.buckets[w].missing, s.buckets[w].at)
  end
end

local function newState(now, c)
  local function limit(n) return { max = n, source = n > 0 and Documented or 0 } end
  local function edgeless() return { from = 0, by = 0, since = 0 } end
  local function windowCount() return { sum = 0, faded = 0, opened = 0, past = 0, at = {}, n = {} } end
  s = {
    dispatched = 0, completed = 0, lateOld = 0, lateNew = 0, open = { { from = 0, n = 0, trip = 0 }, { from = 0, n = 0, trip = 0 } },
    blindAt = 0, lateTurn = 0, pacedUntil = 0, heldUntil = 0, probeUntil = 0, unprovenAt = 0, unprovenTotal = 0,
    born = now, epoch = now, strikes = 0, heldIn = 0, roundsUp = 0, weighs = 0, refills = 0, tried = 0, told = false, silent = 0, allowed = 1,
    figures = emptyFigures(0),
    others = {
      low = 0, high = 0, seen = 0, mark = 0, sum = 0, span = 0, level = 0, recent = 0, burst = 0, slides = 0,
      regular = 0, at = 0, burstAt = 0, every = 0, till = 0,
    },
    limits = { limit(c.perMinute), limit(c.perDay) }, counts = { windowCount(), windowCount() },
    edges = { edgeless(), edgeless() }, buckets = { { missing = 0, at = 0 }, { missing = 0, at = 0 } },
  }
end

-- The exchange.

local function readAsk(blob)
  unpackAll(blob)
  if num() ~= format then
    return nil
  end
  local a = { config = readConfig(), returned = flag(), elsewhere = num(), reports = {}, wanted = {} }
  for i = 1, num() do
    a.reports[i] = { permit = readPermit(), observation = readObservation() }
  end
  for i = 1, num() do
    a.wanted[i] = num()
  end
  return a
end

local function load(blob, now, c)
  if blob then
    unpackAll(blob)
    if num() == format then
      local last = num()
      if last <= now + second then
        readState()
        if not short and at == #data then
          return max(now, last)
        end
      end
    end
  end
  newState(now, c)
  return now
end

local function exchange(now, a)
  s.config, s.reserve, s.share = a.config, a.config.reserve, a.config.share
  for _, r in ipairs(a.reports) do
    report(now, r.permit, r.observation)
  end
  settle(now)
  if a.elsewhere > 0 then
    s.dispatched = s.dispatched + a.elsewhere
    count(now, a.elsewhere, false)
  end
  if a.returned then
    s.figures.valid, s.probeUntil = false, 0
  end
  local grants, last, reserved = {}, { till = 0, reason = 0, window = 0 }, false
  for _, priority in ipairs(a.wanted) do
    if not (reserved and priority == Batch) then
      local p, d = take(now, priority)
      if p then
        p.priority = priority
        grants[#grants + 1] = p
      else
        last = d
        if priority ~= Batch then
          break
        end
        reserved = true
      end
    end
  end
  return grants, last
end

local ask = readAsk(ARGV[1])
if not ask then
  return redis.error_reply('BUDGET the ask is of another version')
end
local time = redis.call('TIME')
local now = load(redis.call('GET', KEYS[1]), time[1] * second + time[2], ask.config)
local grants, last = exchange(now, ask)

data = { format, now }
putState()
redis.call('SET', KEYS[1], packAll(), 'EX', expiry)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - lately)
redis.call('ZADD', KEYS[2], now, ARGV[2])
redis.call('EXPIRE', KEYS[2], expiry)

data = { format, now, redis.call('ZCARD', KEYS[2]), last.till, last.reason, last.window, #grants }
for _, p in ipairs(grants) do
  putPermit(p)
  put(p.priority)
end
putState()
return packAll()
