// Tests of the calls that the shell makes of several objects at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shell } from "./shell.mjs";
import { answered, callObjects, callsOf, frames, unframe } from "../../wasm/worker/calls.mjs";

test("a message takes none of the others with it", async () => {
  const sent = [];
  const stub = { ask: async (message) => { sent.push(structuredClone(message)); return Uint8Array.of(answered); } };
  const parts = ["a", "b", "c"].flatMap((name) => [name, "", "", name.repeat(1000)]).map((s) => new TextEncoder().encode(s));
  const answers = await callObjects({ EDGETABLE_OBJECTS: { getByName: () => stub } }, callsOf(unframe(frames(parts))), 100);
  assert.deepEqual(answers.map((a) => [...a]), [[answered], [answered], [answered]]);
  for (const message of sent) assert.equal(message.buffer.byteLength, 1000);
});

test("a request that is served once more hears of the same maps", async (t) => {
  const { Instance } = await shell(process.env.EDGETABLE_MODULE, "instance.mjs");
  const { Job } = await shell(process.env.EDGETABLE_MODULE, "job.mjs");
  const env = { EDGETABLE_ACCOUNTS: "acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=" };
  const job = new Job(), other = new Job();
  // The fields, as in where.go: kind, table, buckets, location, bucket, bucket of key, position, ranges.
  const find = Uint8Array.of(1, 1, 97, 0, 0, 0, 0, 0, 0), learn = Uint8Array.of(2, 1, 97, 4, 0, 0, 0, 0, 0);
  const before = job.known(env, find);
  assert.deepEqual([...before], [1, 0, 0, 0]);
  other.known(env, learn);
  assert.deepEqual([...job.known(env, find)], [4, 0, 0, 0]);
  job.again();
  assert.deepEqual([...job.known(env, find)], [...before]);
  assert.deepEqual([...job.known(env, learn)], []); // another question: from here on the first attempt no longer counts
  assert.deepEqual([...job.known(env, find)], [4, 0, 0, 0]);
});

test("a request that is served once more does not ask again", async () => {
  const { Instance } = await shell(process.env.EDGETABLE_MODULE, "instance.mjs");
  const { Job } = await shell(process.env.EDGETABLE_MODULE, "job.mjs");
  const instance = new Instance({ EDGETABLE_ACCOUNTS: "acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=" });
  Object.assign(instance, { job: new Job(), size: 0 });
  let asked = 0;
  const ask = (...call) => instance.ask(call, false, async () => [Uint8Array.of(answered, ++asked)]);
  const read = () => ask("a", "", "", Uint8Array.of(1, 2));
  await read();
  await read();
  instance.job.again();
  await read();
  await read();
  assert.equal(asked, 2);
  await read();
  await ask("a", "", "", Uint8Array.of(1, 3));
  assert.equal(asked, 4);
});
