// Tests of how the shell reads the Worker's bindings, and writes to one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shell } from "./shell.mjs";

test("variables that were written without quotes are variables", async () => {
  const { variables } = await import("../../wasm/worker/host.mjs");
  const env = { EDGETABLE_BUCKETS: 8, EDGETABLE_PATH_STYLE: false, EDGETABLE_LOCATION: "eu", EDGETABLE_OBJECTS: {}, OTHER: "x" };
  assert.equal(variables(env, ["EDGETABLE_REPLICA", "bound"]), "EDGETABLE_BUCKETS=8\0EDGETABLE_PATH_STYLE=false\0EDGETABLE_LOCATION=eu\0EDGETABLE_REPLICA=bound\0");
});

test("a data point is one of a request, or of a range that splits or joins another", async (t) => {
  for (const level of ["log", "error"]) t.mock.method(console, level, () => {});
  const { Instance } = await shell(process.env.EDGETABLE_MODULE, "instance.mjs");
  const points = [], log = (level, line) => Instance.prototype.log.call({ env: { EDGETABLE_METRICS: { writeDataPoint: (p) => points.push(p) } } }, level, line);
  log(0, '{"msg":"request","method":"GET","operation":"QueryEntities","account":"acme","table":"people","status":200,"ms":3,"received":0,"sent":5}');
  log(1, '{"msg":"replica","source":"acme","cause":"KV PUT failed"}');
  log(0, '{"msg":"split","event":"join finished","account":"acme","table":"people","bucket":3,"range":17}');
  assert.deepEqual(points, [
    { indexes: ["acme"], blobs: ["QueryEntities", "", "people", "GET"], doubles: [200, 3, 0, 5] },
    { indexes: ["acme"], blobs: ["join finished", "", "people", ""], doubles: [3, 17] },
  ]);
});
