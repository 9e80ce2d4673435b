// Signatures for a range of keys: queries see only what is in it, everything else outside is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTable, keyed, refused, rows, signed } from "./harness.js";

// Three partitions of three rows, which are named by both so that a list of rows tells them apart.
const owner = await fileTable();
for (const partition of ["p1", "p2", "p3"]) {
  await owner.submitTransaction(["r1", "r2", "r3"].map((row) => ["create", keyed(row + partition, {}, partition)]));
}

for (const [why, startPartitionKey, startRowKey, endPartitionKey, endRowKey, expected] of [
  ["a partition", "p2", "", "p2", "", ["r1p2", "r2p2", "r3p2"]],
  ["from a partition on", "p3", "", "", "", ["r1p3", "r2p3", "r3p3"]],
  ["from a row on", "p2", "r3p2", "", "", ["r3p2", "r1p3", "r2p3", "r3p3"]],
  ["up to a row", "", "", "p1", "r2p1", ["r1p1", "r2p1"]],
  ["between rows", "p1", "r3p1", "p2", "r1p2", ["r3p1", "r1p2"]],
  ["one row", "p2", "r2p2", "p2", "r2p2", ["r2p2"]],
  ["nothing", "p4", "", "", "", []],
  ["the wrong way round", "p3", "", "p1", "", []],
]) {
  test(`SAS: a query sees only its range: ${why}`, async () => {
    const by = signed(owner.tableName, "r", { startPartitionKey, startRowKey, endPartitionKey, endRowKey });
    assert.deepEqual(await rows(by.listEntities()), expected);
    const filter = "PartitionKey ge 'p2'";
    assert.deepEqual(await rows(by.listEntities({ queryOptions: { filter } })), expected.filter((row) => row.slice(2) >= "p2"));
    const paged = [];
    for await (const page of by.listEntities().byPage({ maxPageSize: 1 })) paged.push(...page.map((entity) => entity.rowKey));
    assert.deepEqual(paged, expected);
  });
}

const within = { startPartitionKey: "p2", startRowKey: "r2", endPartitionKey: "p2", endRowKey: "r5" };
for (const [name, call] of Object.entries({
  "get": (by, { partitionKey, rowKey }) => by.getEntity(partitionKey, rowKey),
  "create": (by, entity) => by.createEntity({ ...entity, rowKey: entity.rowKey + "new" }),
  "merge": (by, entity) => by.updateEntity(entity, "Merge"),
  "replace": (by, entity) => by.updateEntity(entity, "Replace"),
  "upsert": (by, entity) => by.upsertEntity(entity, "Replace"),
  "transaction": (by, entity) => by.submitTransaction([["upsert", entity, "Replace"]]),
  "delete": (by, { partitionKey, rowKey }) => by.deleteEntity(partitionKey, rowKey),
})) {
  test(`SAS: ${name} only within its range`, async () => {
    const by = signed(owner.tableName, "raud", within);
    const all = await rows(owner.listEntities());
    for (const [partition, row] of [["p2", "r1p2"], ["p2", "r6"], ["p1", "r3p1"], ["p3", "r1p3"]]) {
      // For a reader, entities outside of the range do not exist.
      const expected = name === "get" ? [404, "ResourceNotFound"] : [403, "AuthorizationFailure"];
      await refused(...expected, () => call(by, keyed(row, {}, partition)));
    }
    assert.deepEqual(await rows(owner.listEntities()), all);
    await owner.upsertEntity(keyed("r4", {}, "p2"));
    await call(by, keyed("r4", {}, "p2"));
    for (const row of (await rows(owner.listEntities())).filter((found) => found.startsWith("r4"))) {
      await owner.deleteEntity("p2", row);
    }
  });
}

test("SAS: a transaction partly out of its range", async () => {
  const by = signed(owner.tableName, "raud", within);
  const steps = [["create", keyed("r4", {}, "p2")], ["update", keyed("r1p2", {}, "p2"), "Merge"]];
  const error = await refused(403, "AuthorizationFailure", () => by.submitTransaction(steps));
  assert.match(error.message, /^1:/);
  assert.deepEqual(await rows(by.listEntities()), ["r2p2", "r3p2"]);
});
