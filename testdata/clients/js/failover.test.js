// A program reads on at a secondary on another machine while the primary is dead. The SDK knows a secondary only for getStatistics,
// and only where the account is the first label of a host name: so the program has a client for each, and reads by both.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";
import { keyed, refused, rows } from "./harness.js";
import { newKey, start } from "./program.js";

/** Reads at the primary, and at the secondary if that does not answer. An answer that refuses is an answer. */
async function either(read, primary, secondary) {
  try {
    return await read(primary);
  } catch (error) {
    if (error.statusCode < 500) throw error;
    return read(secondary);
  }
}

async function eventually(condition) {
  for (const end = Date.now() + 120_000; !(await condition().catch(() => false)); await pause(50)) {
    assert.ok(Date.now() < end, "the secondary did not come so far");
  }
}

test("Retry: reads go on at the secondary while the primary is dead", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "failover"));
  const key = newKey();
  const credential = new AzureNamedKeyCredential("own", key);
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 1, retryDelayInMs: 1 } };
  const place = join(folder, "place");
  const one = await start(t, key, "--data", join(folder, "one"), "--backup-to", place, "--backup-log", "50ms");
  const two = await start(t, key, "--data", join(folder, "two"), "--secondary-of", place, "--secondary-max-lag", "6s");
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const primary = new TableClient(one.endpoint, "orders", credential, options);
  const secondary = new TableClient(`${two.endpoint}-secondary`, "orders", credential, options);
  await primary.createTable();
  await primary.createEntity(keyed("1", { Name: "Ada" }));
  await primary.createEntity(keyed("2", { Name: "Grace" }));
  await eventually(async () => (await rows(secondary.listEntities())).length === 2);
  one.server.kill("SIGKILL");
  await once(one.server, "exit");

  assert.equal((await either((table) => table.getEntity("p", "1"), primary, secondary)).Name, "Ada");
  assert.deepEqual(await either((table) => rows(table.listEntities()), primary, secondary), ["1", "2"]);
  await refused(404, "ResourceNotFound", () => either((table) => table.getEntity("p", "none"), primary, secondary));
  await refused(403, "InsufficientAccountPermissions", () => secondary.createEntity(keyed("3")));
  await assert.rejects(primary.createEntity(keyed("3")), { code: "ECONNREFUSED" });
  const names = [];
  for await (const { name } of new TableServiceClient(`${two.endpoint}-secondary`, credential, options).listTables()) names.push(name);
  assert.deepEqual(names, ["orders"]);
});
