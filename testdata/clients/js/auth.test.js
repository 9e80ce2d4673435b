import { test } from "node:test";
import { connectionString, keyed, newClient, newName, newService, newTable, refused, rows } from "./harness.js";

// A key that is base64 like any other, but nobody's.
const stranger = connectionString.replace(/AccountKey=[^;]*/, "AccountKey=d3JvbmcgYnV0IHdlbGwtZm9ybWVkIGtleQ==");

const operations = {
  "create table": (table) => table.createTable(),
  "delete table": (table) => table.deleteTable(),
  "create": (table) => table.createEntity(keyed("r")),
  "get": (table) => table.getEntity("p", "r"),
  "update": (table) => table.updateEntity(keyed("r")),
  "upsert": (table) => table.upsertEntity(keyed("r")),
  "delete": (table) => table.deleteEntity("p", "r"),
  "query": (table) => rows(table.listEntities()),
  "transaction": (table) => table.submitTransaction([["create", keyed("r")]]),
};
for (const [name, call] of Object.entries(operations)) {
  test(`wrong key: ${name}`, async (t) => {
    const { tableName } = await newTable(t);
    for (const target of [tableName, newName()]) { // refused before any look at the table
      await refused(403, "AuthenticationFailed", () => call(newClient(target, stranger)));
    }
  });
}

test("wrong key: list tables", () =>
  refused(403, "AuthenticationFailed", () => newService(stranger).listTables().next()));
