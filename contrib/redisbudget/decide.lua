-- The decision of one exchange: internal/budget of the library, function by function, in a language that Redis runs atomically.
-- A test holds the two against each other; change both. Instants are microseconds. take.lua and exchange.lua follow in the same script.

local second = 1000000
local minute, day, millisecond = 60 * second, 86400 * second, 1000
local lateGrace, probeLease, patience, forgotten, staleness, margin, silence = 10 * second, 2 * minute, 2 * second, 2 * minute, 5 * second, 2, 3
local slots = 64
local memory, prior, burstMemory, lookahead = 60 * second, 5 * second, 180 * second, 5 * second
local fairShare, sure, missable, burstShare = 0.75, 2, 4, 0.75
local enough, most, settling, mostRefills, uncertainty, tellable = 2, 4, 5 * second, 100, 2, 20
local longest, floorWait, widest, mostAllowed, mostTold = day, 500 * millisecond, 30 * second, 2 ^ 20, 2 ^ 30
local minuteAndABit = 62 * second
local lately, expiry = 600 * second, 172800

local format = 3
local Batch = 1
local Minute, Day = 1, 2
local Documented, Learned = 1, 2
local Held, Exhausted, Shared, Reserved, News = 1, 2, 3, 4, 5
local RoundsUp, RoundsDown = 1, 2
local lengths = { minute, day }

local floor, ceil, max, min, abs = math.floor, math.ceil, math.max, math.min, math.abs

local s -- the state

-- Window counts: sums, opened, and two lists with the oldest slot first, of which some are past.

local function add(l, now, length, n)
  l.sum = l.sum + n
  local last = #l.at
  if last > l.past and (now - l.opened < floor(length / (slots - 2)) or last - l.past == slots) then
    l.at[last], l.n[last] = now, l.n[last] + n
    return
  end
  l.at[last + 1], l.n[last + 1], l.opened = now, n, now
end

local function expire(l, now, length)
  while l.at[l.past + 1] and l.at[l.past + 1] + length <= now do
    l.past = l.past + 1
    l.sum, l.faded = l.sum - l.n[l.past], l.faded + l.n[l.past]
  end
  while l.past > 0 and (l.past > slots or l.at[1] + 2 * length <= now) do
    l.faded, l.past = l.faded - l.n[1], l.past - 1
    table.remove(l.at, 1)
    table.remove(l.n, 1)
  end
end

local function roomAt(l, n, length)
  local at = 0
  for i = l.past + 1, #l.at do
    if n <= 0 then
      break
    end
    at, n = l.at[i] + length, n - l.n[i]
  end
  return at
end

local function weighed(l, now, length, from, to)
  local i, drop, current, before, used = 1, 1, l.sum + l.faded, 0, #l.at
  while i <= used and l.at[i] < from do
    current, before, i = current - l.n[i], before + l.n[i], i + 1
  end
  while drop < i and l.at[drop] < from - length do
    before, drop = before - l.n[drop], drop + 1
  end
  local highest = 0
  while true do
    local began = to
    local moves = i <= used and l.at[i] < began
    if moves then
      began = l.at[i]
    end
    local drops = drop < i and l.at[drop] + length < began
    if drops then
      began = l.at[drop] + length
    end
    highest = max(highest, current + before * (1 - (now - began) / length))
    if drops then
      before, drop = before - l.n[drop], drop + 1
    elseif moves then
      current, before, i = current - l.n[i], before + l.n[i], i + 1
    else
      return highest
    end
  end
end

local function certain(l, length, from, to, trip)
  local before, current, unsure, long = 0, 0, 0, floor(length / (slots - 2)) + trip
  for i = 1, #l.at do
    local at, n = l.at[i], l.n[i]
    if at - long > to then
      current = current + n
    elseif at > from then
      unsure = unsure + n
    elseif at - long >= to - length then
      before = before + n
    end
  end
  return before, current, unsure
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
    new = { from = now, n = 0, trip = 0 }
  end
  s.open = { { from = now, n = 0, trip = 0 }, new }
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

-- How the service counts.

local function trip() return max(s.open[1].trip, s.open[2].trip) end
local function weighs() return s.weighs >= enough end
local function refills() return s.refills >= min(4 + floor(s.limits[Minute].max / 15), mostRefills) end
local function flows() return weighs() or refills() end
local function countsOwn() return not silent() and (s.weighs >= 0 or refills()) end

local function edge(window, now)
  local e, length = s.edges[window], lengths[window]
  if e.by == 0 or e.by - e.from >= length then
    return now - length, now
  end
  local from = e.from + floor((now - e.from) / length) * length
  return from, from + e.by - e.from
end

local function missing(window, now)
  local b = s.buckets[window]
  return max(0, b.missing - s.limits[window].max * (now - b.at) / lengths[window])
end

local function takeBucket(window, now, n)
  local b = s.buckets[window]
  b.missing, b.at = missing(window, now) + n, now
  if s.limits[window].max > 0 then
    b.missing = min(b.missing, s.limits[window].max)
  end
end

local function weight(now, window)
  local l, length = s.counts[window], lengths[window]
  if refills() and not weighs() then
    return missing(window, now)
  elseif s.weighs < 0 then
    return l.sum
  end
  local from, to = edge(window, now)
  if to <= now then
    return weighed(l, now, length, from, to)
  end
  return max(weighed(l, now, length, from, now), weighed(l, now, length, now - length, to - length))
end

local function weightUntil(now, window, room)
  local l, length = s.counts[window], lengths[window]
  if s.weighs < 0 and not refills() then
    return roomAt(l, l.sum - room, length)
  end
  room = max(room, 0)
  local from, to = now, now + 2 * length
  while to - from > length / 6000 do
    local middle = from + floor((to - from) / 2)
    if weight(middle, window) <= room then
      to = middle
    else
      from = middle
    end
  end
  return to
end

local function ends(now, window)
  local _, to = edge(window, now)
  if to <= now then
    to = to + lengths[window]
  end
  return to
end

local function regained(from, till, window)
  local l, length, sum = s.counts[window], lengths[window], 0
  if not weighs() then
    return s.limits[window].max * (till - from) / length
  end
  from = max(from, till - 2 * length)
  while from < till do
    local lower, upper = edge(window, from)
    local before = certain(l, length, lower, upper, trip())
    local to = lower + length
    if from < upper then
      local earlier = certain(l, length, lower - length, upper - length, trip())
      before, to = min(before, earlier), upper
    end
    to = min(max(to, from + 1), till)
    sum, from = sum + before * (to - from) / length, to
  end
  return sum
end

-- Others.

local function slides() return s.others.slides >= sure end
local function regular() return s.others.regular > 0 and s.others.every > 0 end
local function tolerance() return max(3 * second, floor(s.others.every / 10)) end

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

local function quotient(a, b) -- as integers are divided in Go
  if a < 0 then
    return ceil(a / b)
  end
  return floor(a / b)
end

local function due(now)
  local o = s.others
  if not regular() or o.burst == 0 then
    return 0, false
  end
  local times = max(quotient(now - o.burstAt - tolerance(), o.every) + 1, 1)
  return o.burstAt + times * o.every, times <= missable
end

local function burst(now)
  local o = s.others
  local _, expected = due(now)
  if o.burst == 0 or (not expected and now - o.burstAt > burstMemory) then
    return 0
  end
  return o.burst
end

local function learnRhythm(now)
  local o = s.others
  local gap = now - o.burstAt
  local times = quotient(gap + floor(o.every / 2), max(o.every, 1))
  if o.burstAt == 0 then -- the first one
  elseif gap <= 2 * staleness then
    return false
  elseif times > 0 and times <= missable and abs(gap - times * o.every) <= tolerance() then
    o.every, o.regular = floor(gap / times), min(o.regular + 1, missable)
  elseif o.regular > 0 then
    o.regular = o.regular - 1
  else
    o.every = gap
  end
  o.burstAt = now
  return true
end

local function learnBurst(now, left, limit, fresh)
  local o = s.others
  local size, known = o.recent - rate(now) * staleness, burst(now)
  local large = size >= max(5, limit / 10) or (known > 0 and size >= known / 3)
  local emptied = left <= 2 and slides() and fresh >= max(4, limit / 30)
  if not large and not emptied and (left > 0 or (left == 0 and fresh < 2)) then
    return false
  end
  if left < 0 or fresh >= max(2, size / 4) or known == 0 then
    if learnRhythm(max(o.at + quotient(now - o.at, 2), now - second)) then
      known = known * 0.9
    end
  end
  if emptied then
    size, large = max(size * 3, limit * 2 / 3), true
  elseif left <= 2 and regular() then
    size = max(size * 3, limit / 8)
  elseif left <= 2 then
    size = size * 1.5
  end
  if large or regular() then
    o.burst = min(max(size, known), limit)
  end
  return true
end

local function watch(now, high, left, level, limit)
  local o = s.others
  o.high = min(o.high, high)
  local taken = max(0, o.low - high - o.seen)
  o.seen = o.seen + taken
  local since = max(0, now - o.at)
  local fresh = max(taken, level - o.level)
  o.recent = o.recent * staleness / (staleness + since) + fresh
  local came = learnBurst(now, left, limit, fresh)
  local fade = memory / (memory + since)
  o.sum, o.span = o.sum * fade, o.span * fade + since
  if o.sum < 0.5 then
    o.span = 0
  end
  if not came or not regular() then
    o.sum = o.sum + taken
  end
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

local function keepBack(now, left)
  if s.figures.window == Day then
    return 0
  end
  local limit = s.limits[Minute].max
  left = min(max(left, 0), minute)
  local part = left / minute
  local keep = s.share * limit * part
  local r = rate(now)
  if r > 0 then
    local ahead = left + lookahead
    if flows() then
      ahead = lookahead
    end
    keep = max(keep, min(r, fairShare * limit / minute) * ahead)
  end
  local b = burst(now)
  local at, rhythm = due(now)
  if rhythm then
    if (slides() and at <= now + minute) or at <= now + left then
      local times = 1 + max(0, quotient(now + left - at, s.others.every))
      keep = max(keep, min(b * times, limit * (fairShare + (1 - fairShare) * part)))
    end
  elseif b > 0 and flows() then
    keep = max(keep, min(b * burstShare, limit * 0.5))
  elseif b > 0 then
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
    if keepBack(middle, reset - middle) < spare then
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

