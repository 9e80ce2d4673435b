import assert from "node:assert/strict";
import { test } from "node:test";
import { keyed, newName, newService, newTable, promised, refused, rows, service, TableBatch } from "./harness.js";

// A key that is base64 like any other, but nobody's.
const stranger = promised(newService("d3JvbmcgYnV0IHdlbGwtZm9ybWVkIGtleQ=="));

const batch = new TableBatch();
batch.insertEntity(keyed("r"));

for (const [name, call] of Object.entries({
  CreateTable: (table) => stranger.createTable(table),
  DeleteTable: (table) => stranger.deleteTable(table),
  InsertEntity: (table) => stranger.insertEntity(table, keyed("r")),
  GetEntity: (table) => stranger.retrieveEntity(table, "p", "r"),
  UpdateEntity: (table) => stranger.replaceEntity(table, keyed("r")),
  MergeEntity: (table) => stranger.mergeEntity(table, keyed("r")),
  UpsertEntity: (table) => stranger.insertOrMergeEntity(table, keyed("r")),
  DeleteEntity: (table) => stranger.deleteEntity(table, keyed("r")),
  QueryEntities: (table) => rows(table, null, stranger),
  EntityGroupTransaction: (table) => stranger.executeBatch(table, batch),
})) {
  test(`Errors: a wrong key for ${name}`, async (t) => {
    for (const table of [await newTable(t), newName()]) { // refused before any look at the table
      await refused(403, "AuthenticationFailed", () => call(table));
    }
  });
}

test("Errors: a wrong key for QueryTables", () =>
  refused(403, "AuthenticationFailed", () => stranger.listTablesSegmented(null)));

test("Errors: code, status, message and the request's id", async () => {
  const failure = await refused(404, "TableNotFound", () => service.insertEntity(newName(), keyed("r")));
  assert.match(failure.requestId, /^[0-9a-f-]{36}$/);
  assert.ok(failure.message.startsWith(`The table specified does not exist.\nRequestId:${failure.requestId}\nTime:`), failure.message);
});
