// Bodies of requests: which ones wait for others, and how many are in memory. The clock does not advance in these tests, so
// a wait never ends by a timeout.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shell } from "./shell.mjs";

const MiB = 1 << 20;

// upload is a request with a body of so many bytes, which comes when it is sent.
function upload(length) {
  const u = { method: "POST", url: "https://host/acme/people", headers: new Headers({ "content-length": String(length) }), body: {}, begun: false };
  const arrived = new Promise((resolve) => { u.send = () => resolve(new ArrayBuffer(length)); });
  u.arrayBuffer = () => {
    u.begun = true;
    return arrived;
  };
  return u;
}

const settled = () => new Promise(setImmediate);
const begun = (uploads) => uploads.filter((u) => u.begun).length;

test("large bodies that do not come leave room for small ones", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { read } = await import("../../wasm/worker/http.mjs");
  const large = Array.from({ length: 100 }, () => upload(4 * MiB)), small = Array.from({ length: 100 }, () => upload(16 << 10));
  for (const u of large) read(u);
  await settled();
  assert.equal(begun(large), 5);
  for (const u of small) read(u);
  await settled();
  assert.equal(begun(small), 100);
});

test("bodies that wait for the instance on Workers KV are held", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { Instance } = await shell(process.env.EDGETABLE_KV_MODULE, "instance.mjs");
  const { default: worker } = await shell(process.env.EDGETABLE_KV_MODULE, "worker.mjs");
  Instance.prototype.serve = function () {
    this.under.set(++this.uses, { since: Date.now() });
    return new Promise(() => {});
  };
  const env = { EDGETABLE_ACCOUNTS: "acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=", EDGETABLE_KV: {} }, ctx = { waitUntil() {} };
  const uploads = (n, length) => Array.from({ length: n }, () => {
    const u = upload(length);
    u.send();
    worker.fetch(u, env, ctx);
    return u;
  });
  for (let i = 0; i < 64; i++) worker.fetch({ ...upload(0), body: null }, env, ctx);
  await settled();
  const large = uploads(100, 4 * MiB);
  for (let i = 0; i < 20; i++) {
    t.mock.timers.tick(20); // who waits looks again
    await settled();
  }
  assert.equal(begun(large), 5);
});
