"use strict";

// Everything that comes from the sandbox is put in as text, never as markup.

const $ = (id) => document.getElementById(id);
const control = "/_sandbox/";
const every = 1000; // milliseconds between two looks
const raised = 1_000_000; // what -limits off makes of a limit, at least

const count = (n) => n.toLocaleString("en");
const words = (s) => s.replaceAll("-", " ");
const of = (shown, all) => (shown < all ? `${count(shown)} of ${count(all)}` : count(all));

let now = new Date(0); // by the sandbox's clock
let workspace = "";

// make makes an element: a tag, properties, children.
function make(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// sync makes the children of a parent those of the items, and keeps the ones that are there: focus and scroll stay.
function sync(parent, items, key, create, fill) {
  const keys = new Set(items.map((item) => String(key(item))));
  const old = new Map();
  for (const node of [...parent.children]) {
    const k = node.dataset.key;
    if (keys.has(k) && !old.has(k)) old.set(k, node);
    else node.remove();
  }
  items.forEach((item, i) => {
    const k = String(key(item));
    const node = old.get(k) ?? create(item);
    old.delete(k); // of twins, the second is another node
    node.dataset.key = k;
    fill?.(node, item);
    if (parent.children[i] !== node) parent.insertBefore(node, parent.children[i] ?? null);
  });
}

// row makes a row of a table. A cell is a text or element, with a class if it is given as a pair.
function row(...cells) {
  return make("tr", {}, ...cells.map((cell) => {
    const [content, className] = Array.isArray(cell) ? cell : [cell, ""];
    return make("td", { className }, content);
  }));
}

// table fills the body of a table. What looks the same stays; a row with other content, or seen on another day, is another row.
const table = (id, items, cells) =>
  sync($(id), items, (item) => now.toISOString().slice(0, 10) + JSON.stringify(item), (item) => row(...cells(item)));

const badge = (text, tone) => make("span", { className: `badge ${tone}` }, text);

// clockTime shows the time of day, and the day if it is not today's. It is UTC, as everything in the service.
function clockTime(iso) {
  const [day, time] = iso.split("T");
  return make("time", { dateTime: iso }, now.toISOString().startsWith(day) ? time.slice(0, 8) : `${day} ${time.slice(0, 5)}`);
}

// span says how long something is.
function span(seconds) {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

// ask calls the control plane. What it refuses becomes an error with its words.
async function ask(path, method = "GET", body = undefined) {
  const answer = await fetch(control + path, {
    method, body: body === undefined ? undefined : JSON.stringify(body), signal: AbortSignal.timeout(10_000),
  });
  const result = await answer.json();
  if (!answer.ok) throw new Error(result.error ?? `status ${answer.status}`);
  return result;
}

function showClock({ clock, now: iso, events }) {
  now = new Date(iso);
  $("now").textContent = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  $("now").dateTime = iso;
  const manual = clock.startsWith("manual");
  $("clock").textContent = manual ? "manual clock" : clock === "real" ? "real clock" : `clock ${clock}`;
  $("forward").hidden = !manual;
  $("moving").hidden = manual;
  if (events.length === 0) return;
  const lines = events.map((e) => make("li", {}, clockTime(e.time), ` ${e.kind} `, make("span", { className: "muted mono" }, e.subject)));
  $("events").prepend(...lines.reverse());
  while ($("events").children.length > 200) $("events").lastChild.remove();
}

function showWindows({ windows }) {
  const surfaces = Map.groupBy(windows.filter((w) => w.limit < raised), (w) => w.surface);
  sync($("windows"), [...surfaces], ([name]) => name,
    ([name, list]) => make("div", { className: "surface" }, make("b", {}, words(name)), ...list.map((w) => make("div", { className: "window" },
      make("div", { className: "meter", role: "meter", "aria-label": `${words(name)}, left this ${w.window}`, "aria-valuemin": 0 }, make("span")),
      make("span"), make("span", { className: "muted" })))),
    (node, [, list]) => list.forEach((w, i) => {
      const [meter, left, reset] = node.querySelectorAll(".window")[i].children;
      meter.ariaValueMax = w.limit;
      meter.ariaValueNow = w.remaining;
      meter.firstChild.style.width = `${(100 * w.remaining) / w.limit}%`;
      meter.classList.toggle("low", w.remaining <= w.limit / 4);
      meter.classList.toggle("out", w.remaining === 0);
      left.textContent = `${count(w.remaining)} of ${count(w.limit)}`;
      reset.textContent = w.resetAt ? `${w.window}, ${span((new Date(w.resetAt) - now) / 1000)}` : w.window;
    }));
}

function showLedger({ balance, entries }) {
  $("balance").textContent = count(balance);
  table("ledger", entries.reverse(), (e) => [
    [clockTime(e.time), "tight"],
    [make("span", {}, e.reason, make("small", {}, e.operation)), "words"],
    [make("span", { className: e.amount < 0 ? "bad" : "" }, count(e.amount)), "number"],
    [count(e.balance), "number"],
  ]);
}

const tones = {
  active: "good", completed: "good", processing: "warn", running: "warn", initializing: "", draft: "", paused: "warn", stopped: "warn",
  expired: "bad", failed: "bad",
};

function showOverview(o) {
  $("seed").textContent = `seed ${o.seed}`;
  $("workspaces").hidden = o.workspaces.length < 2;
  sync($("workspace"), o.workspaces, (name) => name, (name) => make("option", { value: name }, name));
  $("problems").hidden = o.problems.length === 0;
  sync($("problems"), o.problems, (text) => text, (text) => make("li", {}, text));
  $("outbox").textContent = count(o.outbox);
  $("agents-count").textContent = count(o.agents.length);
  $("campaigns-count").textContent = count(o.campaigns.length);
  $("lists-count").textContent = of(o.lists.length, o.listCount);
  table("lists", o.lists, (l) => [
    [make("span", {}, l.name, make("small", { className: "mono" }, l.id)), "words"],
    [l.entityType === "companyList" ? "companies" : "contacts", "tight"], [count(l.rows), "number"],
  ]);
  table("agents", o.agents, (a) => [
    [make("span", {}, a.name, make("small", {}, words(a.type || "legacy kind"))), "words"], [badge(a.status, tones[a.status] ?? ""), "tight"],
    [count(a.delivered), "number"], [count(a.runs), "number"], [a.nextAt ? clockTime(a.nextAt) : "–", "tight"],
  ]);
  table("campaigns", o.campaigns, (c) => [
    [make("span", {}, c.name, make("small", {}, Object.entries(c.sends).map(([state, n]) => `${count(n)} ${state.replaceAll("_", " ")}`).join(", "))), "words"],
    [badge(c.status, tones[c.status] ?? ""), "tight"], [badge(c.initializationStatus, tones[c.initializationStatus] ?? ""), "tight"],
  ]);
}

function showFaults({ faults }) {
  sync($("faults"), faults, (f) => f.number,
    (f) => make("li", {}, make("label", { className: "switch" },
      make("input", { type: "checkbox", role: "switch", onchange: (e) => act(() => ask(`faults/${f.number}`, "POST", { on: e.target.checked }).then(showFaults)) }),
      make("span", { className: "mono" })), make("small")),
    (node, f) => {
      const [input, text] = node.firstChild.children;
      input.checked = f.on;
      text.textContent = `${f.number}. ${f.fault}`;
      text.classList.toggle("off", !f.on);
      text.title = f.does;
      node.lastChild.textContent = ["not fired yet", "fired once"][f.hits] ?? `fired ${count(f.hits)} times`;
    });
  $("clear").disabled = faults.length === 0;
}

function showJournal({ requests, total, failures }) {
  const only = $("failures").checked;
  $("journal-count").textContent = of(requests.length, only ? failures : total) + (only ? ` failures, of ${count(total)} requests` : ` requests, ${count(failures)} failures`);
  table("journal", requests.reverse(), (e) => [
    [clockTime(e.time), "tight"],
    [badge(e.status ? `${e.status}` : "cut", e.status > 499 || e.status < 200 ? "bad" : e.status > 299 ? "warn" : "good"), "tight"],
    [e.operation || "–", "tight"],
    [make("span", {}, make("span", { className: "mono" }, `${e.method} ${e.path.replace("/api/v1/", "/")}`), make("small", {}, [e.code, e.fault, ...e.effects].filter(Boolean).join(" · "))), "words any"],
    [e.credits ? count(e.credits) : "", "number"],
    [make("span", {}, e.key || "–", make("small", {}, e.workspace)), "tight"],
  ]);
}

// refresh looks at everything once. One look is under way at most.
let looking = false;
let lost = false;
async function refresh() {
  if (looking) return;
  looking = true;
  try {
    const within = workspace ? `workspace=${encodeURIComponent(workspace)}` : "";
    showClock(await ask("clock"));
    const [windows, ledger, overview, faults, journal] = await Promise.all([
      ask(`windows?${within}`), ask(`ledger?last=100&${within}`), ask(`overview?${within}`), ask("faults"),
      ask(`journal?last=200&failures=${$("failures").checked}`),
    ]);
    showWindows(windows);
    showLedger(ledger);
    showOverview(overview);
    showFaults(faults);
    showJournal(journal);
    if (lost) notice("");
    lost = false;
  } catch (error) {
    lost = true;
    notice(`The sandbox does not answer: ${error.message}. Trying again.`);
  } finally {
    looking = false;
  }
}

function notice(text) {
  $("notice").hidden = text === "";
  if ($("notice").textContent !== text) $("notice").textContent = text;
}

// act does what the user asked for, and shows what became of it.
async function act(what) {
  try {
    notice("");
    await what();
    await refresh();
  } catch (error) {
    notice(error.message);
  }
}

function compose() {
  $("spec").value = [$("operation").value, $("when").value, $("what").value].join(":");
}

async function addFault() {
  $("refusal").hidden = true;
  try {
    showFaults(await ask("faults", "POST", { fault: $("spec").value }));
  } catch (error) {
    $("refusal").textContent = error.message;
    $("refusal").hidden = false;
  }
}

for (const button of $("forward").children) {
  button.addEventListener("click", () => act(async () => showClock(await ask("clock", "POST", { advance: button.dataset.advance }))));
}
for (const id of ["operation", "when", "what"]) $(id).addEventListener("change", compose);
$("fault").addEventListener("submit", (e) => { e.preventDefault(); addFault(); });
$("clear").addEventListener("click", () => act(async () => showFaults(await ask("faults", "DELETE"))));
$("failures").addEventListener("change", refresh);
$("workspace").addEventListener("change", () => { workspace = $("workspace").value; refresh(); });
$("reset").addEventListener("click", () => $("sure").showModal());
$("sure-no").addEventListener("click", () => $("sure").close());
$("sure-yes").addEventListener("click", () => {
  $("sure").close();
  act(async () => { await ask("reset", "POST"); $("events").replaceChildren(); });
});

async function begin() {
  compose();
  await refresh();
  setInterval(() => { if ($("live").checked && !document.hidden) refresh(); }, every);
  const { operations } = await ask("operations");
  $("operation").append(...operations.map((o) => make("option", { value: o.operation }, o.operation)));
}
begin();
