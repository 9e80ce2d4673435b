// Tests of the memory of the shell and of the module for Workers KV alone, and of the replacement of an
// instance:
// EDGETABLE_KV_MODULE=FOLDER node --test kvinstance.test.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { large, signed } from "./client.mjs";
import { MemoryKV } from "./memorykv.mjs";
import { shell } from "./shell.mjs";

const { Instance } = await shell(process.env.EDGETABLE_KV_MODULE, "instance.mjs");
const { default: worker } = await shell(process.env.EDGETABLE_KV_MODULE, "worker.mjs");
console.log = console.error = () => {};

// The time of the shell and the module advances only when a test says so.
let now = Date.now();
Date.now = () => now;
const minutes = 60_000;

let instance; // the last one that served a request
const { serve } = Instance.prototype;
Instance.prototype.serve = function (...a) {
  instance = this;
  return serve.apply(this, a);
};

const environment = (kv, more) => ({ EDGETABLE_KV: kv, EDGETABLE_ACCOUNTS: "acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=", EDGETABLE_MAX_SKEW: "100000s", ...more });

// ask resolves to the status and the body of a response.
async function ask(env, { method, path, headers, body }) {
  const request = new Request("http://127.0.0.1" + path, { method, headers, body: body.length === 0 ? undefined : body });
  const response = await worker.fetch(request, env, { waitUntil() {} });
  return [response.status, await response.text()];
}

async function demand(env, want, ...request) {
  const [status, text] = await ask(env, signed(...request));
  assert.equal(status, want, text);
}

// start makes the Worker begin with another namespace, without the instance of the last test.
async function start(env) {
  instance?.die(new Error("the test is over"));
  await ask(env, signed("GET", "/Tables"));
  now += 3 * minutes;
}

// drops writes n notes of dropped tables into a namespace.
async function drops(kv, from, n) {
  const note = Buffer.from(`\x01${"\0".repeat(7)}\x01table/acme/one`, "latin1").toString("base64").replaceAll("=", "");
  for (let i = from; i < from + n; i++) await kv.put("x" + String(i).padStart(16, "A"), new Uint8Array(0), { metadata: note });
  now += 1000;
}

test("a purge leaves no values behind", async () => {
  const kv = new MemoryKV(), instance = new Instance(environment(kv));
  for (let round = 0, held; round < 3; round++) {
    await drops(kv, 100 * round, 50);
    await instance.purge();
    assert.equal(kv.size, 0);
    assert.equal(instance.held, held ??= instance.held);
  }
});

test("large values are released, even while requests are always in progress", async () => {
  const env = environment(new MemoryKV());
  await start(env);
  await demand(env, 201, "POST", "/Tables", '{"TableName":"people"}');
  instance.under.set(0, { since: Infinity, reject() {} });
  for (let i = 0; i < 5; i++) {
    assert.equal((await ask(env, large("people", i, 200_000)))[0], 204);
    await demand(env, 200, "GET", `/people(PartitionKey='p',RowKey='000${i}')`);
  }
  const held = instance.go._values.reduce((sum, v) => sum + (v instanceof ArrayBuffer ? v.byteLength : v?.buffer?.byteLength ?? 0), 0);
  assert.ok(held < 100_000, `${held} bytes`);
  for (let number = 0; number < 100; number++) assert.equal(context.binding.outcome(number), undefined);
});

test("an instance that grew too large is replaced between requests", async () => {
  const env = environment(new MemoryKV());
  await start(env);
  await demand(env, 201, "POST", "/Tables", '{"TableName":"people"}');
  const large = instance;
  large.exports.buffer(50 << 20);
  await demand(env, 200, "GET", "/people()");
  assert.notEqual(instance, large);
  assert.ok(instance.memory < 40 << 20);
});

test("an instance without room for a request is dead and rejects the next one", async () => {
  const instance = new Instance(environment(new MemoryKV()));
  await assert.rejects(instance.serve([], { length: 0x7fffff00 }));
  assert.ok(instance.dead);
  await assert.rejects(instance.serve([], []), /was trapped/);
});
