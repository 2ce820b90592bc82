-- The decision of one exchange: internal/budget of the library, function by function, in a language that Redis runs atomically.
-- A test holds the two against each other; change both. Instants are microseconds. exchange.lua follows in the same script.

local second = 1000000
local minute, day, millisecond = 60 * second, 86400 * second, 1000
local lateGrace, probeLease, patience, forgotten, staleness, margin, silence = 10 * second, 2 * minute, 2 * second, 2 * minute, 5 * second, 2, 3
local slots = 64
local memory, prior, burstMemory, lookahead = 60 * second, 5 * second, 180 * second, 5 * second
local fairShare, sure, burstShare = 0.75, 2, 0.75
local longest, floorWait, widest, mostAllowed, mostTold = day, 500 * millisecond, 30 * second, 2 ^ 20, 2 ^ 30
local minuteAndABit = 62 * second
local lately, expiry = 600 * second, 172800

local format = 1
local Batch = 1
local Minute, Day = 1, 2
local Documented, Learned = 1, 2
local Held, Exhausted, Shared, Reserved, News = 1, 2, 3, 4, 5
local RoundsUp, RoundsDown = 1, 2
local lengths = { minute, day }

local floor, max, min = math.floor, math.max, math.min

local s -- the state

-- Ledgers: sum, opened, and two lists with the oldest slot first.

local function add(l, now, length, n)
  l.sum = l.sum + n
  local last = #l.at
  if last > 0 and (now - l.opened < floor(length / (slots - 2)) or last == slots) then
    l.at[last], l.n[last] = now, l.n[last] + n
    return
  end
  l.at[last + 1], l.n[last + 1], l.opened = now, n, now
end

local function expire(l, now, length)
  while l.at[1] and l.at[1] + length <= now do
    l.sum = l.sum - l.n[1]
    table.remove(l.at, 1)
    table.remove(l.n, 1)
  end
end

local function roomAt(l, n, length)
  local at = 0
  for i = 1, #l.at do
    if n <= 0 then
      break
    end
    at, n = l.at[i] + length, n - l.n[i]
  end
  return at
end

-- The state.

local function late() return s.lateOld + s.lateNew end
local function inFlight() return s.dispatched - s.completed - late() end
local function silent() return s.silent >= silence or (s.silent > 0 and not s.told) end

local function forget(now)
  local new, old = s.open[1], s.open[2]
  local gone = old.n
  if now >= new.from + 2 * forgotten then
    gone = gone + new.n
    new = { from = now, n = 0 }
  end
  s.open = { { from = now, n = 0 }, new }
  if gone > 0 then
    s.completed = min(s.completed + gone, s.dispatched - late())
    add(s.counts[Day], now, day, gone)
  end
end

local function settle(now)
  expire(s.counts[Minute], now, minute)
  expire(s.counts[Day], now, day)
  if late() > 0 and now >= s.lateTurn then
    s.completed = s.completed + s.lateOld
    s.lateOld, s.lateNew, s.lateTurn = s.lateNew, 0, now + lateGrace
  end
  if now >= s.open[1].from + forgotten then
    forget(now)
  end
end

local function closes(p)
  if p.epoch < s.born or p.epoch > s.epoch then
    return false
  end
  for _, o in ipairs(s.open) do
    if p.at >= o.from and o.n > 0 then
      o.n = o.n - 1
      return true
    end
  end
  return false
end

local function landed(p)
  if p.probe and s.probeUntil == p.at + probeLease then
    s.probeUntil = 0
  end
end

local function giveBack(p)
  if closes(p) then
    s.dispatched = max(s.dispatched - 1, s.completed + late())
  end
  landed(p)
end

-- Others.

local function slides() return s.others.slides >= sure end

local function rate(now)
  local o = s.others
  if o.sum == 0 and o.level == 0 then
    return 0
  end
  local r = o.sum / (o.span + prior)
  if slides() then
    r = max(r, o.level / minute)
  end
  r = r * (memory / (memory + max(0, now - o.at)))
  if r * minute < 0.5 then
    return 0
  end
  return r
end

local function burst(now)
  local o = s.others
  if o.burst == 0 or now - o.burstAt > burstMemory then
    return 0
  end
  return o.burst
end

local function learnBurst(now, left, limit)
  local o = s.others
  local size, known = o.recent - rate(now) * staleness, burst(now)
  if size < max(5, limit / 10) and (known == 0 or size < known / 3) then
    return
  end
  if left <= 2 then
    size = size * 1.5
  end
  o.burst, o.burstAt = min(max(size, known), limit), now
end

local function watch(now, high, left, level, limit)
  local o = s.others
  o.high = min(o.high, high)
  local taken = max(0, o.low - high - o.seen)
  o.seen = o.seen + taken
  local since = max(0, now - o.at)
  o.recent = o.recent * staleness / (staleness + since) + max(taken, level - o.level)
  learnBurst(now, left, limit)
  local fade = memory / (memory + since)
  o.sum, o.span = o.sum * fade, o.span * fade + since
  if o.sum < 0.5 then
    o.span = 0
  end
  o.sum = o.sum + taken
  o.level, o.at = level, now
end

local function note(now, low, high, left, level, limit)
  local o = s.others
  if o.at == 0 or low > o.high then
    o.low, o.high, o.seen = low, high, 0
    if not slides() then
      o.level, o.at, o.recent = level, now, 0
      return
    end
  end
  o.low = max(o.low, low)
  watch(now, high, left, level, limit)
end

local function learnSliding(advance)
  local o = s.others
  if advance < 50 * second then
    o.slides = min(o.slides + 1, 2 * sure)
  else
    o.slides = max(o.slides - 1, 0)
  end
end

local function resetAt()
  local f = s.figures
  if not f.hasReset then
    return f.at + (f.window == Day and day or minute)
  end
  if s.roundsUp == RoundsUp then
    return f.resetBy + 20 * millisecond
  end
  return f.resetBy + second
end

local function keepBack(left)
  if s.figures.window == Day then
    return 0
  end
  local limit, now = s.limits[Minute].max, resetAt() - left
  left = min(max(left, 0), minute)
  local part = left / minute
  local keep = s.share * limit * part
  local r = rate(now)
  if r > 0 then
    keep = max(keep, min(r, fairShare * limit / minute) * (left + lookahead))
  end
  local b = burst(now)
  if b > 0 then
    keep = max(keep, limit * part, min(b * burstShare, limit * 0.4))
  end
  return keep
end

local function gap(now)
  local limit, r = s.limits[Minute].max, rate(now)
  if (r == 0 and burst(now) == 0) or not slides() or limit == 0 or s.figures.window == Day then
    return 0
  end
  return floor(minute / max(limit - r * (minute + lookahead), limit * 0.45))
end

local function keepsLess(now, reset, spare)
  local from, to = now, reset
  while to - from > 10 * millisecond do
    local middle = from + floor((to - from) / 2)
    if keepBack(reset - middle) < spare then
      to = middle
    else
      from = middle
    end
  end
  return max(to, now + millisecond)
end

local function politeness(left, keep)
  local limit = s.limits[Minute].max
  if keep == 0 or limit == 0 or s.figures.window == Day or left > keep then
    return 0
  end
  return min(lookahead, floor((keep - left + 1) * minute / limit))
end

-- Taking: each returns a permit, or nil and why not.

local function denied(till, reason, window) return nil, { till = till, reason = reason, window = window or 0 } end

local function grant(now, probe, bare)
  local p = { before = s.completed, epoch = s.epoch, at = now, probe = probe, bare = bare }
  p.own = s.counts[Minute].sum + inFlight() - s.dispatched
  s.dispatched = s.dispatched + 1
  s.open[1].n = s.open[1].n + 1
  if probe then
    s.probeUntil = now + probeLease
  end
  return p
end

local function full(now, window, limit)
  local l = s.counts[window]
  local over = l.sum + inFlight() + 1 - limit
  if over <= 0 then
    return nil
  end
  if inFlight() > 0 and l.sum == 0 then
    return { till = now + probeLease, reason = News, window = window }
  end
  return { till = max(roomAt(l, over, lengths[window]), now + millisecond), reason = Exhausted, window = window }
end

local function probing(now)
  local till = s.probeUntil - probeLease + patience
  if now >= s.probeUntil or s.limits[Minute].max == 0 then
    return s.probeUntil
  end
  if now < till then
    return till
  end
  for _, window in ipairs({ Minute, Day }) do
    local limit = s.limits[window].max
    local d = limit > 0 and full(now, window, limit)
    if d then
      till = max(till, min(d.till, s.probeUntil))
    end
  end
  return till
end

local function probe(now)
  local till = probing(now)
  if now < till then
    return denied(till, News)
  end
  return grant(now, true, true)
end

local function takeLedger(now, reserve)
  local till = probing(now)
  if now < till then
    return denied(till, News)
  end
  local limited = false
  for _, window in ipairs({ Day, Minute }) do
    local limit = s.limits[window].max
    if limit ~= 0 then
      limited = true
      local d = full(now, window, limit - reserve)
      if d then
        return nil, d
      end
    end
  end
  if not limited and inFlight() >= s.allowed then
    return denied(now + probeLease, News)
  end
  return grant(now, false, true)
end

local function pictureIsOld(now, cover, left, keep, reserve)
  local f = s.figures
  if inFlight() == 0 and cover <= 0 and f.sent >= s.blindAt then
    return f.remaining > keep + reserve
  end
  return rate(now) > 0 and now - f.at >= staleness and cover > 0 and left > reserve + margin
end

local function slidOn(now)
  return s.figures.window == Minute and slides() and rate(now) == 0 and burst(now) == 0
    and s.counts[Minute].sum + inFlight() < s.limits[Minute].max
end

local function whyNotCovered(now, cover, taken, left, reserve, reset)
  local f, l = s.figures, s.counts[Minute]
  local d = { till = reset, reason = Exhausted, window = f.window }
  if slides() and cover <= 0 then
    d.till = min(d.till, max(roomAt(l, l.sum + inFlight() + 1 - s.limits[Minute].max, minute), now + 100 * millisecond))
  end
  local spare = cover - taken
  if cover <= 0 and inFlight() + late() > 0 and left > 0 then
    d.reason = News
    if late() > 0 then
      d.till = min(d.till, max(s.lateTurn, now + millisecond))
    end
  elseif spare > reserve then
    d.reason = Shared
    d.till = min(d.till, keepsLess(now, reset, spare - reserve))
    if rate(now) > 0 then
      d.till = min(d.till, max(f.at + staleness, now + second / 4))
    end
  elseif cover > 0 and reserve > 0 then
    d.reason = Reserved
  end
  return d
end

local function takeCovered(now, reserve)
  local f = s.figures
  local cover, reset = f.remaining + f.known - s.dispatched, resetAt()
  local keep, taken = keepBack(reset - now), rate(now) * (now - f.at)
  local left = f.remaining - late() - taken
  local pace = gap(now)
  if pace > 0 and now < s.pacedUntil then
    return denied(s.pacedUntil, Shared, f.window)
  end
  if cover - taken > keep + reserve then
    s.pacedUntil = now + pace
    return grant(now, false, false)
  end
  if now < probing(now) then
    return denied(probing(now), News, f.window)
  end
  if now >= reset then
    local polite = reset + politeness(left, keep)
    if now < polite then
      return denied(polite, Shared, f.window)
    end
    return probe(now)
  end
  if (left > reserve and pictureIsOld(now, cover, left, keep, reserve)) or (cover <= 0 and reserve == 0 and slidOn(now)) then
    return probe(now)
  end
  return nil, whyNotCovered(now, cover, taken, left, reserve, reset)
end

local function take(now, priority)
  settle(now)
  local reserve = priority == Batch and s.reserve or 0
  if now < s.heldUntil then
    return denied(s.heldUntil, Held, s.heldIn)
  elseif s.figures.valid then
    return takeCovered(now, reserve)
  elseif silent() then
    return takeLedger(now, reserve)
  end
  return probe(now)
end

-- Reporting.

local function bounded(d) return min(max(d, 0), longest) end

local function count(now, n, lost)
  add(s.counts[Minute], now, minute, n)
  add(s.counts[Day], now, day, n)
  if not lost then
    s.completed = min(s.completed + n, s.dispatched - late())
    return
  end
  if late() == 0 then
    s.lateTurn = now + lateGrace
  end
  s.blindAt = now
  s.lateNew = min(s.lateNew + n, s.dispatched - s.completed - s.lateOld)
end

local function lostLook(now, p)
  local f, l = s.figures, s.counts[Minute]
  if p.probe and f.valid and slides() then
    f.hasReset, f.resetBy = true, max(now, roomAt(l, l.sum + inFlight() + 1 - s.limits[Minute].max, minute))
  end
end

local function bare(p)
  s.allowed = min(s.allowed + 1, mostAllowed)
  if not p.bare then
    return
  end
  s.silent = s.silent + 1
  if silent() then
    s.silent, s.figures.valid = min(s.silent, silence), false
  end
end

local function emptyFigures(window)
  return {
    valid = false, remaining = 0, known = 0, mark = 0, window = window, hasReset = false, at = 0, sent = 0, resetFrom = 0, resetBy = 0,
  }
end

local function hold(now, o, fresh)
  local doublings = 2 ^ min(max(s.strikes - 1, 0), 6)
  local wait = min(second * doublings, minute)
  if o.hasRetry then
    wait = bounded(o.retryAfter)
  elseif o.hasReset then
    wait = bounded(o.reset) + second
  end
  wait = max(wait, floorWait)
  local spread = min(min(floor(wait / 10), second) * doublings, widest)
  local till = now + min(wait + floor(min(max(o.jitter, 0), 1) * spread), longest)
  if till > s.heldUntil or fresh then
    s.heldUntil = max(till, s.heldUntil)
    s.heldIn = wait > minuteAndABit and Day or Minute
  end
end

local function refuse(now, p, o)
  local fresh = p.epoch == s.epoch
  if not fresh and s.figures.valid then
    return
  end
  if not fresh and p.epoch == s.epoch - 1 and s.heldIn == Minute then
    watch(now, s.others.high - 1, 0, s.others.level, s.limits[Minute].max)
  end
  if fresh then
    s.epoch, s.strikes = s.epoch + 1, s.strikes + 1
    s.allowed, s.probeUntil = 1, 0
    if s.figures.valid and s.figures.window == Minute then
      watch(now, s.dispatched - 1, 0, s.others.level, s.limits[Minute].max)
    end
    s.figures = emptyFigures(s.figures.window)
    if s.roundsUp == RoundsUp and p.probe then
      s.roundsUp = RoundsDown
    end
  end
  hold(now, o, fresh)
end

local function windowOf(o)
  if o.hasReset and o.reset > minuteAndABit then
    return Day
  elseif o.limit > 0 and o.limit == s.limits[Minute].max then
    return Minute
  elseif o.limit > 0 and o.limit == s.limits[Day].max then
    return Day
  end
  return Minute
end

local function learn(o)
  s.told, s.silent = true, 0
  local w = s.limits[windowOf(o)]
  if o.limit > 0 and o.limit <= mostTold and o.limit ~= w.max then
    w.max, w.source = o.limit, Learned
  end
end

local function laterThan(f, g)
  return f.hasReset and g.hasReset and f.window == g.window and f.resetFrom > g.resetBy
end

local function merge(f, g, n)
  local known = max(f.known, g.known - n) + n
  if g.remaining < f.remaining or (g.remaining == f.remaining and g.resetBy >= f.resetBy) then
    f = g
  elseif g.remaining == f.remaining then
    f.mark = g.mark
  end
  f.known = known
  return f
end

local function learnRounding(now, p, o, w)
  local f = s.figures
  if s.roundsUp == 0 and f.hasReset and f.window == w and now < f.resetFrom and f.at + 10 * millisecond < p.at
    and o.remaining < f.remaining and o.hasReset and bounded(o.reset) == lengths[w] then
    s.roundsUp = RoundsUp
  end
end

local function observe(now, p, o, replays)
  local w = windowOf(o)
  local left = min(o.remaining, mostTold)
  if o.limit > 0 then
    left = min(left, o.limit)
  end
  local known = min(p.before + 1 + replays, s.completed)
  local next = {
    valid = true, remaining = left, known = known, mark = s.completed, window = w, hasReset = o.hasReset, at = now, sent = p.at,
    resetFrom = p.at + bounded(o.reset) - second, resetBy = now + bounded(o.reset),
  }
  learnRounding(now, p, o, w)
  local f = s.figures
  local comparable, resetBefore = f.valid and f.hasReset and f.window == w, f.resetBy
  if f.valid and laterThan(f, next) then
    return
  elseif not f.valid or p.before >= f.mark or laterThan(next, f) then
    s.figures = next
  else
    s.figures = merge(f, next, 1 + replays)
  end
  if w == Minute and o.limit > 0 and p.before >= s.others.mark then
    s.others.mark = s.completed
    local level = s.limits[Minute].max - left - p.own - s.dispatched
    if comparable and s.figures.hasReset and left + known > s.others.high then
      learnSliding(s.figures.resetBy - resetBefore)
    end
    note(now, left + known, left + s.dispatched, left, max(0, level), o.limit)
  end
end

local function report(now, p, o)
  if p.epoch <= 0 then
    return
  end
  settle(now)
  if o.notSent then
    giveBack(p)
    return
  end
  if not closes(p) then
    s.dispatched = s.dispatched + 1
  end
  local replays = min(max(o.replays, 0), 100)
  s.dispatched = s.dispatched + replays
  count(now, 1 + replays, o.lost)
  if o.refused then
    refuse(now, p, o)
  elseif p.epoch ~= s.epoch then -- it says nothing about now
  elseif o.lost then
    lostLook(now, p)
  elseif o.remaining >= 0 then
    s.strikes = 0
    learn(o)
    observe(now, p, o, replays)
  else
    s.strikes, s.blindAt = 0, now
    bare(p)
  end
  landed(p)
end
