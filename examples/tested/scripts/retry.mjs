// Plays testdata/retry.json against a client: which cells does it fail? Run it with: node examples/tested/scripts/retry.mjs
// The client here is naive. Put yours in its place. Arguments are the operations to play.
// PROSPECTKIT_COMMAND may name the command of the sandbox, if it has been built.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

const root = `${import.meta.dirname}/../../..`;
const spec = JSON.parse(readFileSync(`${root}/testdata/retry.json`, "utf8"));
const built = process.env.PROSPECTKIT_COMMAND;
const [command, ...args] = built ? [built] : ["go", "run", "./cmd/prospectkit"];
const routes = [
  "agents.pause=POST /business/agents/{agentId}/pause",
  "campaigns.preview-step=POST /business/campaigns/{campaignId}/steps/{stepId}/preview",
  "contacts.timeline=GET /business/contacts/{contactId}/activities",
].flatMap((route) => ["-route", route]);
const child = spawn(command, [...args, "sandbox", "-json", "-limits", "off", "-seed", "testdata/retry-world.json", ...routes], {
  cwd: root,
  stdio: ["ignore", "pipe", "ignore"],
  detached: true, // a group of its own, so that what go run starts ends with it
});
let text = "";
for await (const piece of child.stdout.setEncoding("utf8")) {
  text += piece;
  if (text.endsWith("}\n")) break;
}
const service = JSON.parse(text);

async function control(path, body) {
  const response = await fetch(service.controlURL + path, body && { method: "POST", body: JSON.stringify(body) });
  return response.json();
}

// request reads what to send from testdata/http. A form is written as JSON there.
function request(operation) {
  const [head, body] = readFileSync(`${root}/testdata/http/${operation}/sandbox.http`, "utf8").split("\nHTTP/1.1 ")[0].split("\n\n");
  const [method, uri] = head.split(" ");
  const headers = { Authorization: "Basic " + Buffer.from(service.token + ":").toString("base64") };
  if (!body) return { path: uri.replace("/api/v1", ""), method, headers };
  if (head.includes("multipart/form-data")) {
    const form = new FormData();
    for (const [name, value] of Object.entries(JSON.parse(body))) form.append(name, value);
    return { path: uri.replace("/api/v1", ""), method, headers, body: form };
  }
  headers["Content-Type"] = "application/json";
  return { path: uri.replace("/api/v1", ""), method, headers, body };
}

// naive retries whatever fails, three times in all, and has no word for an unknown outcome.
async function naive(baseURL, { path, ...init }, limit) {
  for (let attempts = 1; ; attempts++) {
    try {
      const response = await fetch(baseURL + path, { ...init, signal: limit && AbortSignal.timeout(limit) });
      await response.text();
      if (response.ok) return { attempts, result: "success" };
      if (response.status < 500 && response.status !== 429) return { attempts, result: "not applied" };
    } catch {} // the network
    if (attempts === 3) return { attempts, result: "not applied" };
  }
}

// play makes one call under one failure, and returns a cell.
async function play(operation, failure, when) {
  await control("reset", {});
  if (failure.fault) await control("faults", { fault: `${operation}:${when}:${failure.fault}` });
  const baseURL = {
    "closed port": "http://127.0.0.1:1",
    https: service.baseURL.replace("http:", "https:"),
  }[failure.needs] ?? service.baseURL;
  const { attempts, result } = await naive(baseURL, request(operation), failure.needs === "time limit" ? 300 : undefined);
  const { requests, processed } = (await control("calls")).calls[operation] ?? { requests: 0, processed: 0 };
  return { attempts, requests, processed, result };
}

const describe = (cell) => `${cell.attempts} attempts, ${cell.requests} requests, ${cell.processed} processed: ${cell.result}`;
const names = process.argv.length > 2 ? process.argv.slice(2) : ["lists.list", "search.prospects", "lists.add-contacts"];
const operations = spec.operations.filter(({ name, kind }) => kind !== "later page" && names.includes(name));
let [played, failed, twice] = [0, 0, 0];
for (const failure of spec.failures) {
  if (["caller", "bound"].includes(failure.needs)) continue; // this client has neither
  for (const { name, kind } of operations) {
    for (const [when, cells] of [["nth=1", failure.once], ["always", failure.always]]) {
      const want = cells?.[kind];
      if (!want) continue;
      const got = await play(name, failure, when);
      played++;
      if (kind !== "read" && got.processed > 1) twice++;
      if (describe(got) === describe(want)) continue;
      failed++;
      console.log(`${name}, ${failure.name}, ${when}: ${describe(got)}\n  wanted: ${describe(want)}`);
    }
  }
}
console.log(`fails ${failed} of ${played} cells; processed more than once in ${twice}`);
process.kill(-child.pid, "SIGTERM");
await once(child, "exit");
