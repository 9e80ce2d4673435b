// Bodies of requests: which ones wait for others, and how many are in memory. The clock does not advance in these tests, so
// a wait never ends by a timeout.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shell } from "./shell.mjs";

const MiB = 1 << 20;

// upload returns a request with a body of this many bytes, which arrives when the test sends it.
function upload(length, from = "192.0.2.1") {
  const headers = new Headers({ "content-length": String(length), "cf-connecting-ip": from });
  const u = { method: "POST", url: "https://host/acme/people", headers, body: {}, begun: false };
  const arrived = new Promise((resolve) => { u.send = () => resolve(new ArrayBuffer(length)); });
  u.arrayBuffer = () => {
    u.begun = true;
    return arrived;
  };
  return u;
}

const settled = () => new Promise(setImmediate);
const begun = (uploads) => uploads.filter((u) => u.begun).length;

test("large bodies of one client that do not come leave room for its small ones, and for others", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { read } = await import("../../wasm/worker/http.mjs");
  const uploads = (length, from, n = 100) => Array.from({ length: n }, () => upload(length, from));
  const large = uploads(4 * MiB, "2001:db8::1"), neighbours = uploads(4 * MiB, "2001:DB8:0:0:ffff::1", 20), small = uploads(16 << 10, "2001:db8::1");
  const others = uploads(4 * MiB, "2001:db8:0:1::1");
  const flood = uploads(16 << 10, "2001:db8::2", 280), late = uploads(16 << 10, "192.0.2.2");
  const expect = async (list, n) => {
    for (const u of list) read(u);
    await settled();
    assert.equal(begun(list), n);
  };
  await expect(large, 3);
  await expect(neighbours, 0); // in the same network
  await expect(small, 100);
  await expect(flood, 156);
  await expect(others, 1);
  await expect(late, 100);
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
    t.mock.timers.tick(20); // waiting requests check again
    await settled();
  }
  assert.equal(begun(large), 3);
});
