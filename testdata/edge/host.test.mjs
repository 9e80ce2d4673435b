// What the shell makes of the Worker's bindings.
import assert from "node:assert/strict";
import { test } from "node:test";

test("variables that were written without quotes are variables", async () => {
  const { variables } = await import("../../wasm/worker/host.mjs");
  const env = { EDGETABLE_BUCKETS: 8, EDGETABLE_PATH_STYLE: false, EDGETABLE_LOCATION: "eu", EDGETABLE_OBJECTS: {}, OTHER: "x" };
  assert.equal(variables(env, ["EDGETABLE_REPLICA", "bound"]), "EDGETABLE_BUCKETS=8\0EDGETABLE_PATH_STYLE=false\0EDGETABLE_LOCATION=eu\0EDGETABLE_REPLICA=bound\0");
});
