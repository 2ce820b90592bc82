-- What is taken and reported: the second half of decide.lua, which stands before this in the same script.

-- Taking: each returns a permit, or nil and why not.

local function denied(till, reason, window) return nil, { till = till, reason = reason, window = window or 0 } end

local function grant(now, probe, bare)
  local p = { before = s.completed, epoch = s.epoch, at = now, probe = probe, bare = bare }
  p.own = s.counts[Minute].sum + inFlight() - s.dispatched
  if flows() then
    p.own = ceil(weight(now, Minute)) + inFlight() - s.dispatched
  end
  s.dispatched = s.dispatched + 1
  s.open[1].n = s.open[1].n + 1
  if probe then
    s.probeUntil = now + probeLease
  end
  return p
end

local function full(now, window, limit)
  local l, room = s.counts[window], limit - inFlight() - 1
  if l.sum + l.faded <= room or weight(now, window) <= room then
    return nil
  end
  if inFlight() > 0 and l.sum + l.faded == 0 then
    return { till = now + probeLease, reason = News, window = window }
  end
  return { till = max(weightUntil(now, window, room), now + millisecond), reason = Exhausted, window = window }
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
    local l = s.counts[window]
    local over = l.sum + inFlight() + 1 - limit
    if limit > 0 and over > 0 then -- the service may count all of the last minute
      till = max(till, min(roomAt(l, over, lengths[window]), s.probeUntil))
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

local function try(now, d, limit)
  local l = s.counts[d.window]
  local over = l.sum + inFlight() + 1 - limit
  if weighs() or over > l.sum then
    return nil, d
  elseif over > 0 then
    d.till = min(d.till, max(roomAt(l, over, lengths[d.window]), now + millisecond))
    return nil, d
  elseif inFlight() > 0 then
    return denied(now + probeLease, News, Minute)
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
      limit = limit - reserve
      local d = full(now, window, limit)
      if d then
        return try(now, d, limit)
      end
    end
  end
  if not limited and inFlight() >= s.allowed then
    return denied(now + probeLease, News)
  end
  return grant(now, false, true)
end

local function overloaded(now, reserve)
  for _, window in ipairs({ Day, Minute }) do
    local limit, l = s.limits[window].max, s.counts[window]
    local d = limit > 0 and l.sum + l.faded + inFlight() >= limit - reserve and full(now, window, limit - reserve)
    if d then
      return d
    end
  end
end

local function spare(now, reserve)
  local f = s.figures
  local covered = f.remaining + f.known - s.dispatched + regained(f.at, now, f.window)
  covered = min(covered, s.limits[f.window].max - inFlight())
  local left = ends(now, f.window) - now
  if not weighs() then
    left = lengths[f.window]
  end
  if rate(now) == 0 and burst(now) == 0 then
    covered = covered + (1 + regained(f.sent, f.at, f.window))
  end
  return covered, covered - reserve - keepBack(now, left)
end

local function takeWeighed(now, reserve)
  local f, w = s.figures, s.figures.window
  if gap(now) > 0 and now < s.pacedUntil then
    return denied(s.pacedUntil, Shared, w)
  end
  local looks = max(f.at + staleness, now)
  if not weighs() and burst(now) > 0 then
    looks = max(f.at + 3 * staleness, now)
  end
  if f.remaining <= margin and not weighs() and rate(now) == 0 and burst(now) == 0 then
    looks = max(looks, f.at + floor((margin + 1) * lengths[w] / max(1, s.limits[w].max)))
  elseif f.remaining <= margin then
    looks = max(ends(f.at, w) + lookahead, now)
  end
  local at, rhythm = due(now)
  if rhythm and f.remaining > margin then
    looks = min(looks, max(at, f.at + second))
  end
  local function fits(instant)
    local covered, left = spare(instant, reserve)
    return covered >= 1 and left > 0
  end
  local fit = fits(now)
  if fit and now - f.at < minute then
    s.pacedUntil = now + gap(now)
    return grant(now, false, false)
  elseif fit or (inFlight() == 0 and looks <= now) then
    return probe(now)
  end
  local from, to = now, ends(now, w) - 1
  if not fits(to) then
    from, to = to, to + lengths[w]
  end
  while to - from > lengths[w] / 6000 do
    local middle = from + floor((to - from) / 2)
    if fits(middle) then
      to = middle
    else
      from = middle
    end
  end
  return denied(max(min(to, looks), now + millisecond), rate(now) > 0 and Shared or Exhausted, w)
end

local function pictureIsOld(now, cover, left, keep, reserve)
  local f = s.figures
  if inFlight() == 0 and cover <= 0 and f.sent >= s.blindAt then
    return f.remaining > keep + reserve
  end
  local at, rhythm = due(now)
  if rhythm and now >= at and now - f.at >= second then
    return cover > 0 and left > reserve + margin
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
  local spare = cover - taken -- of the cover
  if cover <= 0 and inFlight() + late() > 0 and left > 0 then
    d.reason = News
    if late() > 0 then
      d.till = min(d.till, max(s.lateTurn, now + millisecond))
    end
  elseif spare > reserve then
    d.reason = Shared
    d.till = min(d.till, keepsLess(now, reset, spare - reserve))
    local at, rhythm = due(now)
    if rhythm then
      d.till = min(d.till, max(at, f.at + second, now + second / 4))
    end
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
  local keep, taken = keepBack(now, reset - now), rate(now) * (now - f.at)
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
  end
  local d = countsOwn() and overloaded(now, reserve)
  if d then
    return nil, d
  elseif s.figures.valid and flows() then
    return takeWeighed(now, reserve)
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
  takeBucket(Minute, now, n)
  takeBucket(Day, now, n)
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
  if silent() and p.probe and s.weighs == 0 then
    s.tried = s.tried + 1
    if s.tried > s.limits[Minute].max then
      s.weighs = -1
    end
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

local function doubtWeighing(now)
  if silent() then
    s.weighs = enough
  elseif refills() then
    s.refills = 0
  elseif s.weighs < 0 then
    s.weighs, s.tried = 0, 0
  elseif weighs() and rate(now) == 0 and burst(now) == 0 then
    s.weighs = s.weighs - 1
  end
end

local function namesReset(now, o)
  local f = s.figures
  if not f.hasReset or not o.hasRetry then
    return not f.hasReset
  end
  local off = now + bounded(o.retryAfter) - f.resetBy
  off = off - max(0, floor((off + minute / 2) / minute)) * minute
  return abs(off) <= 2 * second
end

local function believeRefusal()
  local at, total = s.unprovenAt, s.unprovenTotal
  s.unprovenAt, s.unprovenTotal = 0, 0
  if at == 0 then
    return
  end
  doubtWeighing(at)
  if total > 0 then
    watch(at, total, -1, s.others.level, s.limits[Minute].max)
  end
end

local function checkRefusal(window, left)
  if window ~= Minute or 2 * (left - margin) <= s.others.low - s.others.seen - s.unprovenTotal then
    believeRefusal()
  end
  s.unprovenAt, s.unprovenTotal = 0, 0
end

local function refuse(now, p, o)
  local fresh = p.epoch == s.epoch
  if not fresh and s.figures.valid then
    return
  end
  if not fresh and p.epoch == s.epoch - 1 and s.unprovenAt ~= 0 then
    s.unprovenTotal = s.unprovenTotal - 1
  elseif not fresh and p.epoch == s.epoch - 1 and s.heldIn == Minute then
    watch(now, s.others.high - 1, -1, s.others.level, s.limits[Minute].max)
  end
  if fresh then
    believeRefusal()
    s.unprovenAt = now
    if s.figures.valid and s.figures.window == Minute then
      s.unprovenTotal = s.dispatched - 1
    end
    if s.unprovenTotal == 0 or o.remaining == 0 or namesReset(now, o) then
      believeRefusal()
    end
    s.epoch, s.strikes = s.epoch + 1, s.strikes + 1
    s.allowed, s.probeUntil = 1, 0
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

local function followEdge(p, now, reset, window)
  local e, length = s.edges[window], lengths[window]
  local next = { from = p.at + reset - second, by = now + reset, since = s.completed }
  if s.roundsUp ~= RoundsUp then
    next.by = next.by + second
  end
  local known = e.by ~= 0
  if known and next.by - next.from + e.by - e.from >= length then
    return true
  end
  if known then
    local shift = -floor((e.by - next.from) / length) * length
    e.from, e.by = e.from + shift, e.by + shift
    if e.from <= next.by and next.from <= e.by then
      e.from, e.by = max(e.from, next.from), min(e.by, next.by)
      return true
    end
  end
  s.edges[window] = next
  return not known
end

local function settled(window)
  return trip() < settling and (s.completed - s.edges[window].since) * lengths[window] / s.limits[window].max > settling
end

local function learnRefilling(o, window, left)
  local limit, length = s.limits[window].max, lengths[window]
  if not o.hasReset or limit < tellable or window ~= Minute then
    return
  end
  local each = floor(length / limit)
  local whole = (limit - left) * each
  local off = bounded(o.reset) - whole
  if off < -each - second or off > second then
    s.refills = 0
  elseif whole > settling then
    s.refills = min(s.refills + 1, mostRefills)
  end
end

local function learnWeighing(now, p, o, window, left, known)
  local limit = s.limits[window].max
  if not o.hasReset or limit == 0 then
    return
  end
  local agrees = followEdge(p, now, bounded(o.reset), window)
  if not agrees then
    s.weighs = max(s.weighs - 1, -most)
  end
  local l, length = s.counts[window], lengths[window]
  if known ~= s.completed or inFlight() > 0 then
    return
  end
  local from, to = edge(window, now)
  local before, current, unsure = certain(l, length, from, to, trip())
  local faded = before * (1 - (now - from) / length)
  local used, least = limit - left, current - late() + faded
  if used < least - (uncertainty + floor(limit / 8)) then
    s.weighs = -most
  elseif not agrees or to > p.at or bounded(o.reset) < length / 2 or faded < max(4, limit / 4)
    or not settled(window) then
    return
  elseif used >= least + unsure - uncertainty and used <= weight(p.at, window) + uncertainty then
    s.weighs = min(s.weighs + enough, most)
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
  checkRefusal(w, left)
  learnRounding(now, p, o, w)
  learnRefilling(o, w, left)
  learnWeighing(now, p, o, w, left, known)
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
      if now < s.others.till and s.weighs >= 0 and late() == 0 and settled(w) then
        s.weighs = min(s.weighs + 1, most)
      end
      if not flows() then
        learnSliding(s.figures.resetBy - resetBefore)
      end
    end
    if flows() then
      s.others.slides, level = 2 * sure, level - uncertainty
    end
    if s.others.at == 0 or left + known > s.others.high then
      s.others.till = next.resetFrom
    end
    s.others.till = min(s.others.till, next.resetFrom)
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
  s.open[1].trip = max(s.open[1].trip, now - p.at)
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
    believeRefusal()
    s.strikes, s.blindAt = 0, now
    bare(p)
  end
  landed(p)
end
