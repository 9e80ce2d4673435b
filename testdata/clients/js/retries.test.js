// What a program meets that leaves retries to the SDK: as many as by default (three), but without the long delays.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TableClient } from "@azure/data-tables";
import { keyed, refused, rows } from "./harness.js";
import { serve } from "./program.js";

/** The table "orders", with the entity ("p", "there"), of a server that fails by a rule. */
async function failing(t, rule) {
  const table = TableClient.fromConnectionString(await serve(t, "--chaos", rule), "orders", {
    allowInsecureConnection: true, retryOptions: { retryDelayInMs: 1 },
  });
  await table.createTable();
  await table.upsertEntity(keyed("there", { N: 1 }), "Merge"); // which no rule below is for
  return table;
}

const deeds = {
  insert: (table) => table.createEntity(keyed("new")),
  upsert: (table) => table.upsertEntity(keyed("new"), "Replace"),
  replace: (table) => table.updateEntity(keyed("there", { N: 2 }), "Replace"),
  remove: (table) => table.deleteEntity("p", "there"),
  query: (table) => rows(table.listEntities()),
  transaction: (table) => table.submitTransaction([["create", keyed("new")]]),
};

for (const [why, rule, deed, expected] of [
  ["a busy server", "operation=InsertEntity count=1 fault=503", "insert", ["new", "there"]],
  ["a broken server", "operation=InsertEntity count=3 fault=500", "insert", ["new", "there"]],
  ["a query of a busy server", "operation=QueryEntities count=1 fault=503", "query", ["there"]],
  ["a transaction of a broken server", "operation=EntityGroupTransaction count=2 fault=500", "transaction", ["new", "there"]],
  ["an insert whose connection is reset", "operation=InsertEntity count=1 fault=reset", "insert", ["new", "there"]],
  ["a query whose connection is reset", "operation=QueryEntities count=3 fault=reset", "query", ["there"]],
  ["a transaction whose connection is reset", "operation=EntityGroupTransaction count=1 fault=reset", "transaction", ["new", "there"]],
  ["an upsert whose reply is lost", "operation=InsertOrReplaceEntity count=1 fault=lost-reply", "upsert", ["new", "there"]],
  ["an update whose reply is lost", "operation=UpdateEntity count=1 fault=lost-reply", "replace", ["there"]],
]) {
  test(`Retry: nothing is seen of ${why}`, async (t) => {
    const table = await failing(t, rule);
    await deeds[deed](table);
    assert.deepEqual(await rows(table.listEntities()), expected);
  });
}

test("Retry: ends", async (t) => {
  const table = await failing(t, "operation=InsertEntity fault=500");
  await refused(500, "InternalError", () => deeds.insert(table));
  assert.deepEqual(await rows(table.listEntities()), ["there"]);
});

// The service did it and could not say so. The SDK sends it again and meets what it did itself: the program has to look
// whether what is there is its own.
for (const [deed, operation, status, code, expected] of [
  ["insert", "InsertEntity", 409, "EntityAlreadyExists", ["new", "there"]],
  ["remove", "DeleteEntity", 404, "ResourceNotFound", []],
  ["transaction", "EntityGroupTransaction", 409, "EntityAlreadyExists", ["new", "there"]],
]) {
  test(`Retry: ${deed} meets its own first try when the reply is lost`, async (t) => {
    const table = await failing(t, `operation=${operation} count=1 fault=lost-reply`);
    await refused(status, code, () => deeds[deed](table));
    assert.deepEqual(await rows(table.listEntities()), expected);
  });
}

test("Retry: an update with a condition meets its own first try when the reply is lost", async (t) => {
  const table = await failing(t, "operation=UpdateEntity count=1 fault=lost-reply");
  const { etag } = await table.getEntity("p", "there");
  await refused(412, "UpdateConditionNotSatisfied", () => table.updateEntity(keyed("there", { N: 2 }), "Replace", { etag }));
  assert.equal((await table.getEntity("p", "there")).N, 2);
});
