// Run it with: node --test examples/tested/scripts/sandbox.test.mjs
// PROSPECTKIT_COMMAND may name the command of the sandbox, if it has been built.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";

const scripts = import.meta.dirname;
let child, service;

before(async () => {
  const built = process.env.PROSPECTKIT_COMMAND;
  const [command, ...args] = built ? [built] : ["go", "run", "./cmd/prospectkit"];
  child = spawn(command, [...args, "sandbox", "-json", "-seed", `${scripts}/world.json`, "-clock", "manual"], {
    cwd: `${scripts}/../../..`,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true, // a group of its own, so that what go run starts ends with it
  });
  let text = "";
  for await (const piece of child.stdout.setEncoding("utf8")) {
    text += piece;
    if (text.endsWith("}\n")) break; // one JSON object: baseURL, token, controlURL, what there is
  }
  service = JSON.parse(text);
});

after(async () => {
  process.kill(-child.pid, "SIGTERM");
  await once(child, "exit");
});

async function send(url, method = "GET", body) {
  const answer = await fetch(url, {
    method,
    headers: {
      Authorization: "Basic " + Buffer.from(service.token + ":").toString("base64"),
      ...(body && { "Content-Type": "application/json" }),
    },
    body: body && JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}
const api = (path, ...rest) => send(service.baseURL + path, ...rest);
const control = (path, ...rest) => send(service.controlURL + path, ...rest);

test("rows of a list", async () => {
  const list = service.lists.find((l) => l.name === "Berlin");
  const { body } = await api(`/business/lists/${list.id}/rows`);
  assert.deepEqual(body.data.map((row) => row.firstName), ["Grace", "Alan"]);
});

test("a fault, and how much is left", async () => {
  await control("faults", "POST", { fault: "account.me:nth=1:status=429:code=RATE_LIMITED:retry-after=20" });
  const refused = await api("/business/me");
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("Retry-After"), "20");
  assert.equal(refused.body.error.code, "RATE_LIMITED");
  assert.equal((await api("/business/me")).status, 200);
});

test("an approval whose response is lost", async () => {
  const campaign = "b00000000000000000000001";
  await control("faults", "POST", { fault: "campaigns.approve:nth=1:drop-after" });
  await assert.rejects(api(`/business/campaigns/${campaign}/approve`, "POST")); // it has happened anyway

  await control("clock", "POST", { advance: "24h" }); // a day in no time
  const { outbox } = (await control("outbox")).body;
  assert.deepEqual(outbox.map((m) => m.campaignId), [campaign, campaign]); // one message to each contact

  const { requests } = (await control("journal")).body;
  assert.equal(requests.filter((r) => r.operation === "campaigns.approve").length, 1);
});
