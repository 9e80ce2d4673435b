// What the shell hands to the platform where it calls several objects at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answered, callObjects, frames, unframe } from "../../wasm/worker/calls.mjs";

test("a message takes none of the others with it", async () => {
  const encoder = new TextEncoder(), sent = [];
  const stub = { ask: async (message) => { sent.push(structuredClone(message)); return Uint8Array.of(answered); } };
  const parts = ["a", "b", "c"].flatMap((name) => [name, "", "", name.repeat(1000)]).map((s) => encoder.encode(s));
  const answers = await callObjects({ EDGETABLE_OBJECTS: { getByName: () => stub } }, frames([Uint8Array.of(100, 0, 0, 0, 0), ...parts]));
  assert.deepEqual(unframe(answers).map((a) => [...a]), [[answered], [answered], [answered]]);
  for (const message of sent) assert.equal(message.buffer.byteLength, 1000);
});
