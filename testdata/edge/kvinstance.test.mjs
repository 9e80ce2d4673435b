// What the shell and the module for Workers KV alone hold on to, and when they begin anew:
//   EDGETABLE_KV_MODULE=FOLDER node --test kvinstance.test.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { large, signed } from "./client.mjs";
import { MemoryKV } from "./memorykv.mjs";
import { shell } from "./shell.mjs";

const { Instance } = await shell(process.env.EDGETABLE_KV_MODULE, "instance.mjs");
const { default: worker } = await shell(process.env.EDGETABLE_KV_MODULE, "worker.mjs");
console.log = console.error = () => {};

// The time of the shell, the module and the namespaces goes on when a test says so.
let now = Date.now();
Date.now = () => now;
const minutes = 60_000;

let instance; // the last that served
const { serve } = Instance.prototype;
Instance.prototype.serve = function (...a) {
  instance = this;
  return serve.apply(this, a);
};

const environment = (kv, more) => ({ EDGETABLE_KV: kv, EDGETABLE_ACCOUNTS: "acme:c2VjcmV0", EDGETABLE_MAX_SKEW: "100000", ...more });

// ask resolves to the status and the text of a response.
async function ask(env, { method, path, headers, body }) {
  const request = new Request("http://127.0.0.1" + path, { method, headers, body: body.length === 0 ? undefined : body });
  const response = await worker.fetch(request, env, { waitUntil() {} });
  return [response.status, await response.text()];
}

async function demand(env, want, ...request) {
  const [status, text] = await ask(env, signed(...request));
  assert.equal(status, want, text);
}

// anew has the Worker begin with another namespace: the instance of the last test is given up.
async function anew(env) {
  instance?.die(new Error("the test is over"));
  await ask(env, signed("GET", "/Tables"));
  now += 3 * minutes;
}

// drops leaves notes of dropped tables in a namespace, so many from a number on.
async function drops(kv, from, n) {
  const note = Buffer.from(`\x01${"\0".repeat(7)}\x01table/acme/one`, "latin1").toString("base64").replaceAll("=", "");
  for (let i = from; i < from + n; i++) await kv.put("x" + String(i).padStart(16, "A"), new Uint8Array(0), { metadata: note });
  now += 1000;
}

test("to delete leaves nothing behind", async () => {
  const kv = new MemoryKV(), instance = new Instance(environment(kv));
  for (let round = 0, held; round < 3; round++) {
    await drops(kv, 100 * round, 50);
    await instance.purge();
    assert.equal(kv.size, 0);
    assert.equal(instance.held, held ??= instance.held);
  }
});

test("of what was read or written nothing large is held, also where requests are always under way", async () => {
  const env = environment(new MemoryKV());
  await anew(env);
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

test("an instance that could not hand over what it remembers is lost", async () => {
  const env = environment(new MemoryKV(), { EDGETABLE_KV_SINGLE_WRITER: "true" });
  await anew(env);
  await demand(env, 201, "POST", "/Tables", '{"TableName":"people"}');
  const { takeOver } = Instance.prototype;
  Instance.prototype.takeOver = () => { throw new Error("out of memory"); };
  instance.exports.buffer(50 << 20);
  await demand(env, 500, "GET", "/Tables");
  Instance.prototype.takeOver = takeOver;
  await demand(env, 503, "POST", "/people", '{"PartitionKey":"p","RowKey":"r"}');
  now += 3 * minutes;
  await demand(env, 201, "POST", "/people", '{"PartitionKey":"p","RowKey":"r"}');
});

test("an instance without room for a request is dead, and says so to the next", async () => {
  const instance = new Instance(environment(new MemoryKV()));
  await assert.rejects(instance.serve([], { length: 0x7fffff00 }));
  assert.ok(instance.dead);
  await assert.rejects(instance.serve([], []), /was trapped/);
});
