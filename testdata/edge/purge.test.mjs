// Tests of how long the scheduled purge of the Worker on Workers KV alone may take.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shell } from "./shell.mjs";

test("a purge ends before the shell gives it up", async (t) => {
  let now = 1e12;
  t.mock.method(Date, "now", () => now);
  t.mock.method(console, "error", (line) => assert.fail(line));
  const { default: worker } = await shell(process.env.EDGETABLE_KV_MODULE, "worker.mjs");
  let calls = 0;
  const list = async () => {
    calls++;
    now += 1000;
    return { keys: [], list_complete: false, cursor: "more" };
  };
  await worker.scheduled(null, { EDGETABLE_ACCOUNTS: "acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=", EDGETABLE_KV: { list } });
  assert.ok(calls > 30 && calls < 60, `${calls} calls of a second each`);
});
