// Tests of the queue for instances: one client leaves some to others, and the client that holds least is
// next.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shell } from "./shell.mjs";

const env = { EDGETABLE_ACCOUNTS: "acme:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=" };
const settled = () => new Promise(setImmediate);

// line returns how many instances of a size each client got.
async function line(t, size) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const pool = await shell(process.env.EDGETABLE_MODULE, "pool.mjs"), served = [];
  let refused = 0;
  const look = async () => {
    t.mock.timers.tick(16);
    await settled();
  };
  const ask = async (client, n) => {
    for (let i = 0; i < n; i++) {
      pool.take(env, size, client).then((instance) => (instance === null ? refused++ : served.push({ client, instance })));
    }
    await settled();
  };
  return {
    look, ask,
    of: (client) => served.filter((s) => s.client === client).length,
    refused: () => refused,
    end: (client) => pool.giveBack(served.splice(served.findIndex((s) => s.client === client), 1)[0].instance, false),
    clear: async () => {
      for (let i = 0; served.length > 0 || i < 100; i++) {
        for (const s of served.splice(0)) pool.giveBack(s.instance, false);
        await look();
      }
    },
  };
}

test("one client leaves instances to clients that have none, and who holds least is next", async (t) => {
  const l = await line(t, 0), clients = ["hostile", "second", "third", "fourth", "fifth"];
  await l.ask("hostile", 500);
  await l.ask("second", 3);
  await l.ask("third", 1);
  await l.ask("fourth", 1);
  await l.ask("fifth", 1);
  assert.deepEqual(clients.map(l.of), [12, 1, 1, 1, 0]);
  for (const want of [[11, 1, 1, 1, 1], [10, 1, 1, 1, 1], [9, 1, 1, 1, 1], [8, 1, 1, 1, 1], [7, 2, 1, 1, 1], [6, 3, 1, 1, 1], [6, 3, 1, 1, 1]]) {
    l.end("hostile");
    for (let i = 0; i < 3; i++) await l.look();
    assert.deepEqual(clients.map(l.of), want);
  }
  await l.clear();
});

test("a client has half of the line", async (t) => {
  const l = await line(t, 2);
  await l.ask("hostile", 1000);
  assert.deepEqual([l.of("hostile"), l.refused()], [1, 1000 - 1 - 512]);
  await l.ask("other", 1);
  assert.equal(l.refused(), 1000 - 1 - 512);
  for (const want of [[1, 0], [0, 1]]) { // in turn
    l.end("hostile");
    for (let i = 0; i < 3; i++) await l.look();
    assert.deepEqual([l.of("hostile"), l.of("other")], want);
  }
  await l.clear();
});
