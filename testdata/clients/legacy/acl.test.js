import assert from "node:assert/strict";
import { test } from "node:test";
import { newName, newTable, refused, service } from "./harness.js";

const policies = async (table) => (await service.getTableAcl(table))[0].signedIdentifiers;

// The SDK puts the dates of a policy on the wire with seven digits.
const full = { Start: new Date("2021-06-08T02:10:09.123Z"), Expiry: new Date("2031-06-08T02:10:09Z"), Permissions: "raud" };

test("TableACL: empty at first", async (t) => assert.deepEqual(await policies(await newTable(t)), {}));

test("TableACL: five policies, in their order", async (t) => {
  const table = await newTable(t);
  const five = {
    "id only": {},
    "permission only": { Permissions: "r" },
    "times only": { Start: full.Start, Expiry: full.Expiry },
    "full": full,
    "<&> \"odd\" 'é'": { Permissions: "ra", Expiry: new Date("1999-01-01T00:00:00Z") },
  };
  const [, response] = await service.setTableAcl(table, five);
  assert.equal(response.statusCode, 204);
  assert.deepEqual(await policies(table), five);
  assert.deepEqual(Object.keys(await policies(table)), Object.keys(five));
  assert.deepEqual(await policies(table.toUpperCase()), five);
});

test("TableACL: replaced as a whole, and cleared", async (t) => {
  const table = await newTable(t);
  await service.setTableAcl(table, { one: full, two: full });
  await service.setTableAcl(table, { two: { Permissions: "d" } });
  assert.deepEqual(await policies(table), { two: { Permissions: "d" } });
  await service.setTableAcl(table, {});
  assert.deepEqual(await policies(table), {});
  await service.setTableAcl(table, { one: full });
  await service.setTableAcl(table, null); // without a body
  assert.deepEqual(await policies(table), {});
});

test("TableACL: gone with its table", async (t) => {
  const table = await newTable(t);
  await service.setTableAcl(table, { one: full });
  await service.deleteTable(table);
  await service.createTable(table);
  assert.deepEqual(await policies(table), {});
});

for (const [why, identifiers] of [
  ["six policies", Object.fromEntries([..."abcdef"].map((id) => [id, full]))],
  ["an id of 65 characters", { ["i".repeat(65)]: full }],
  ["a permission that tables do not have", { one: { Permissions: "rwd" } }],
]) {
  test(`TableACL: refused for ${why}`, async (t) => {
    const table = await newTable(t);
    await service.setTableAcl(table, { kept: full });
    await refused(400, "InvalidXmlDocument", () => service.setTableAcl(table, identifiers));
    assert.deepEqual(await policies(table), { kept: full });
  });
}

test("TableACL: a table that is not there", async () => {
  await refused(404, "TableNotFound", () => service.getTableAcl(newName()));
  await refused(404, "TableNotFound", () => service.setTableAcl(newName(), { one: full }));
});
