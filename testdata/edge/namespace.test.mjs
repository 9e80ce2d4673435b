// Tests of several concurrent writes to Workers KV, against a namespace whose writes end when the test says
// so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { frames } from "../../wasm/worker/calls.mjs";
import { callNamespace } from "../../wasm/worker/namespace.mjs";

const encoder = new TextEncoder(), decoder = new TextDecoder();
const done = 0, refused = 2, failed = 4; // as in namespace.go

// writing starts writes of these names; a name that begins with "-" is deleted. begun lists the writes that have begun, open
// holds those that have not ended, finish ends one, and outcome returns the results of all.
function writing(names, end = Infinity) {
  const begun = [], open = new Map();
  const begin = (...what) => new Promise((resolve, reject) => {
    begun.push(what);
    open.set(what[0], { resolve, reject });
  });
  const kv = { put: (name, value, { metadata }) => begin(name, decoder.decode(value), metadata), delete: (name) => begin(name) };
  const head = new Uint8Array(8);
  new DataView(head.buffer).setFloat64(0, end, true);
  const parts = names.flatMap((name) => (name[0] === "-" ? ["\x01" + name.slice(1), "", ""] : ["\x00" + name, "value of " + name, "metadata"]));
  const became = callNamespace({ EDGETABLE_REPLICA: kv }, frames([encoder.encode("w"), head, ...parts.map((p) => encoder.encode(p))]));
  const finish = async (name, error) => {
    const { resolve, reject } = open.get(name);
    open.delete(name);
    if (error === undefined) resolve();
    else reject(new Error(error));
    await new Promise(setImmediate);
  };
  const outcome = async () => {
    const [whole, ...each] = await became;
    assert.deepEqual([...whole], [done]);
    return each.map(([what, ...reason]) => (reason.length === 0 ? what : [what, String.fromCharCode(...reason)]));
  };
  return { begun, open, finish, outcome };
}

const letters = [..."abcdefghijklmnopqrstuvwxyz"];

test("six writes are under way, another begins when one ends, each is told by itself", async () => {
  const w = writing(["a", "-b", ...letters.slice(2)]);
  assert.deepEqual(w.begun.slice(0, 3), [["a", "value of a", "metadata"], ["b"], ["c", "value of c", "metadata"]]);
  assert.equal(w.begun.length, 6);
  await w.finish("d", "KV PUT failed: 429 Too Many Requests");
  await w.finish("b");
  assert.deepEqual(w.begun.slice(6).map(([name]) => name), ["g", "h"]);
  while (w.open.size > 0) {
    assert.ok(w.open.size <= 6);
    await w.finish([...w.open.keys()].pop()); // the last first
  }
  assert.equal(w.begun.length, letters.length);
  assert.deepEqual(await w.outcome(), letters.map((name) => (name === "d" ? refused : done)));
});

test("none begins behind the end", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1000 });
  const w = writing(letters, 5000);
  t.mock.timers.setTime(4999);
  await w.finish("a");
  t.mock.timers.setTime(5000);
  for (const name of "bcdefg") await w.finish(name);
  assert.deepEqual(await w.outcome(), letters.map((name) => (name <= "g" ? done : refused)));
  assert.equal(w.begun.length, 7);
  assert.deepEqual(await writing(["a"], 0).outcome(), [refused], "who only reads has no time to write");
});

test("none begins behind one that failed, and those that are under way count", async () => {
  const w = writing(letters);
  await w.finish("b", "KV PUT failed: 500");
  for (const name of "acdef") await w.finish(name);
  assert.deepEqual(await w.outcome(), letters.map((name) => (name === "b" ? [failed, "Error: KV PUT failed: 500"] : name <= "f" ? done : refused)));
  assert.equal(w.begun.length, 6);
});
