import assert from "node:assert/strict";
import { test } from "node:test";
import { generateTableSas } from "@azure/data-tables";
import { credential, hours, keyed, newClient, newName, newTable, permissions, present, refused, rows, withSas } from "./harness.js";

const start = new Date("2021-06-08T02:10:09Z");
const expiry = new Date("2041-06-08T00:00:00Z");
const full = { id: "full", accessPolicy: { start, expiry, permission: "raud" } };
const policies = async (table) =>
  (await table.getAccessPolicy()).map(({ id, accessPolicy }) => present({ id, accessPolicy }));

for (const [why, stored] of [
  ["one", [full]],
  ["five, in their order", [
    { id: "e", accessPolicy: {} },
    { id: "d", accessPolicy: { permission: "r" } },
    { id: "c", accessPolicy: { start, expiry } },
    full,
    { id: "<&> 'é' \"", accessPolicy: { permission: "ud", expiry: start } },
  ]],
  ["expired", [{ id: "old", accessPolicy: { start, expiry: start, permission: "r" } }]],
  ["an id of 64", [{ ...full, id: "i".repeat(64) }]],
  ["none", []],
]) {
  test(`TableACL: ${why}`, async (t) => {
    const table = await newTable(t);
    assert.deepEqual(await policies(table), []);
    await table.setAccessPolicy([{ ...full, id: "before" }]);
    await table.setAccessPolicy(stored);
    assert.deepEqual(await policies(table), stored);
    assert.deepEqual(await policies(newClient(table.tableName.toUpperCase())), stored);
  });
}

for (const [why, stored] of [
  ["six", [..."abcdef"].map((id) => ({ ...full, id }))],
  ["an id of 65", [{ ...full, id: "i".repeat(65) }]],
  ["an id twice", [full, full]],
  ["a permission of blobs", [{ id: "id", accessPolicy: { permission: "rw" } }]],
]) {
  test(`TableACL: refused for ${why}`, async (t) => {
    const table = await newTable(t);
    await table.setAccessPolicy([full]);
    await refused(400, "InvalidXmlDocument", () => table.setAccessPolicy(stored));
    assert.deepEqual(await policies(table), [full]);
  });
}

test("TableACL: gone with the table", async (t) => {
  const table = await newTable(t);
  await table.setAccessPolicy([full]);
  await table.deleteTable();
  await table.createTable();
  assert.deepEqual(await policies(table), []);
});

test("TableACL: of a missing table", async () => {
  const missing = newClient(newName());
  await refused(404, "TableNotFound", () => missing.getAccessPolicy());
  await refused(404, "TableNotFound", () => missing.setAccessPolicy([full]));
});

const bound = (table, more = {}) => withSas(table.tableName, generateTableSas(table.tableName, credential, { identifier: "id", ...more }));
const valid = { start: hours(-1), expiry: hours(1), permission: "r" };
const without = (part) => present({ ...valid, [part]: undefined });

for (const [why, code, accessPolicy, more] of [
  ["all of it stored", null, valid],
  ["permissions in the token", null, without("permission"), { permissions: permissions("r") }],
  ["expiry in the token", null, without("expiry"), { expiresOn: hours(1) }],
  ["start in the token", null, without("start"), { startsOn: hours(-1) }],
  ["all of it in the token", null, {}, { permissions: permissions("r"), expiresOn: hours(1) }],
  ["expired in the policy", "AuthenticationFailed", { ...valid, expiry: hours(-1) }],
  ["expired in the token", "AuthenticationFailed", without("expiry"), { expiresOn: hours(-1) }],
  ["not yet", "AuthenticationFailed", { ...valid, start: hours(1), expiry: hours(2) }],
  ["no expiry", "AuthenticationFailed", without("expiry")],
  ["no permissions", "AuthenticationFailed", without("permission")],
  ["other permissions", "AuthorizationPermissionMismatch", { ...valid, permission: "aud" }],
]) {
  test(`SAS: by a stored policy: ${why}`, async (t) => {
    const table = await newTable(t);
    await table.setAccessPolicy([{ id: "other", accessPolicy: {} }, { id: "id", accessPolicy }]);
    const call = () => rows(bound(table, more).listEntities());
    await (code ? refused(403, code, call) : call());
  });
}

test("SAS: by a stored policy that changes, goes and comes back", async (t) => {
  const table = await newTable(t);
  const by = bound(table);
  const set = (...stored) => table.setAccessPolicy(stored.map((accessPolicy) => ({ id: "id", accessPolicy })));
  await set(valid);
  await rows(by.listEntities());
  await refused(403, "AuthorizationPermissionMismatch", () => by.createEntity(keyed("r")));
  await set({ ...valid, permission: "a" });
  await by.createEntity(keyed("r"));
  await refused(403, "AuthorizationPermissionMismatch", () => rows(by.listEntities()));
  await set();
  await refused(403, "AuthenticationFailed", () => rows(by.listEntities()));
  await refused(403, "AuthenticationFailed", () => by.createEntity(keyed("s")));
  await set(valid);
  assert.deepEqual(await rows(by.listEntities()), ["r"]);
});
