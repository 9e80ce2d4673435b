// What the shell hands to the platform where it calls several objects at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shell } from "./shell.mjs";
import { answered, callObjects, frames, unframe } from "../../wasm/worker/calls.mjs";

test("a message takes none of the others with it", async () => {
  const encoder = new TextEncoder(), sent = [];
  const stub = { ask: async (message) => { sent.push(structuredClone(message)); return Uint8Array.of(answered); } };
  const parts = ["a", "b", "c"].flatMap((name) => [name, "", "", name.repeat(1000)]).map((s) => encoder.encode(s));
  const answers = await callObjects({ EDGETABLE_OBJECTS: { getByName: () => stub } }, frames([Uint8Array.of(100, 0, 0, 0, 0), ...parts]));
  assert.deepEqual(unframe(answers).map((a) => [...a]), [[answered], [answered], [answered]]);
  for (const message of sent) assert.equal(message.buffer.byteLength, 1000);
});

test("a request that is served once more does not ask again, with less time left either", async () => {
  const { Instance } = await shell(process.env.EDGETABLE_MODULE, "instance.mjs");
  const { Job } = await shell(process.env.EDGETABLE_MODULE, "job.mjs");
  const calls = await shell(process.env.EDGETABLE_MODULE, "calls.mjs");
  let asked = 0;
  const stub = { ask: async () => Uint8Array.of(answered, ++asked) };
  const instance = new Instance({ EDGETABLE_ACCOUNTS: "acme:c2VjcmV0", EDGETABLE_OBJECTS: { getByName: () => stub } });
  Object.assign(instance, { job: new Job(), size: 0 });
  const ask = (ms) => instance.ask(calls.callObjects, frames([Uint8Array.of(ms, 0, 0, 0, 0), ...["a", "", "", "m"].map((s) => new TextEncoder().encode(s))]));
  await ask(100);
  await ask(90);
  instance.job.again();
  for (const ms of [80, 70]) await ask(ms);
  assert.equal(asked, 2);
  await ask(60);
  assert.equal(asked, 3);
});
