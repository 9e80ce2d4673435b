import assert from "node:assert/strict";
import { test } from "node:test";
import { generateTableSas } from "@azure/data-tables";
import { covers, deeds } from "./deeds.js";
import { credential, fileTable, hours, keyed, newName, newTable, permissions, refused, rows, serviceWithSas, signed, withSas } from "./harness.js";

const owner = await fileTable();
const table = owner.tableName;
await owner.createEntity(keyed("there"));

for (const letters of ["r", "a", "u", "d", "au", "rud", "raud"]) {
  for (const [name, [needed, call]] of Object.entries(deeds)) {
    const enough = covers(letters, needed);
    test(`SAS: ${letters} ${enough ? "allows" : "refuses"} ${name}`, async () => {
      const by = signed(table, letters);
      await (enough ? call(by, owner) : refused(403, "AuthorizationPermissionMismatch", () => call(by, owner)));
    });
  }
}

test("SAS: a refused transaction leaves nothing", async () => {
  const before = await rows(owner.listEntities());
  const steps = [["create", keyed(newName())], ["update", keyed("there"), "Merge"]];
  const error = await refused(403, "AuthorizationPermissionMismatch", () => signed(table, "a").submitTransaction(steps));
  assert.match(error.message, /^1:/);
  assert.deepEqual(await rows(owner.listEntities()), before);
});

test("SAS: without options it reads for an hour", async () => {
  const by = withSas(table, generateTableSas(table, credential));
  assert.equal((await by.getEntity("p", "there")).rowKey, "there");
  await refused(403, "AuthorizationPermissionMismatch", () => by.updateEntity(keyed("there")));
});

for (const [why, more] of [
  ["a start in the past", { startsOn: hours(-1) }],
  ["both protocols", { protocol: "https,http" }],
  ["everybody's address", { ipRange: { start: "0.0.0.0", end: "255.255.255.255" } }],
  ["an older version", { version: "2015-04-05" }],
]) {
  test(`SAS: with ${why}`, () => signed(table, "r", more).getEntity("p", "there"));
}

for (const [why, code, more] of [
  ["expired", "AuthenticationFailed", { expiresOn: hours(-1) }],
  ["not yet valid", "AuthenticationFailed", { startsOn: hours(1), expiresOn: hours(2) }],
  ["https only", "AuthorizationProtocolMismatch", { protocol: "https" }],
  ["another address", "AuthorizationSourceIPMismatch", { ipRange: { start: "203.0.113.7" } }],
  ["another range of addresses", "AuthorizationSourceIPMismatch", { ipRange: { start: "203.0.113.7", end: "203.0.113.9" } }],
]) {
  test(`SAS: ${why}`, () => refused(403, code, () => signed(table, "r", more).getEntity("p", "there")));
}

for (const [part, from, to] of [["permissions", "sp=r&", "sp=raud&"], ["expiry", "se=2", "se=3"], ["signature", /sig=.{6}/, "sig=AAAAAA"]]) {
  test(`SAS: forged ${part}`, async () => {
    const sas = generateTableSas(table, credential, { permissions: permissions("r"), expiresOn: hours(1) });
    const forged = sas.replace(from, to);
    assert.notEqual(forged, sas);
    await refused(403, "AuthenticationFailed", () => withSas(table, forged).getEntity("p", "there"));
  });
}

test("SAS: any case of the table's name, but no other table", async (t) => {
  const sas = generateTableSas(table.toUpperCase(), credential, { permissions: permissions("ra"), expiresOn: hours(1) });
  await withSas(table.toLowerCase(), sas).getEntity("p", "there");
  const other = await newTable(t);
  await refused(403, "AuthorizationFailure", () => withSas(other.tableName, sas).getEntity("p", "there"));
  await refused(403, "AuthorizationFailure", () => withSas(newName(), sas).getEntity("p", "there"));
  await refused(403, "AuthorizationFailure", () => withSas(other.tableName, sas).createEntity(keyed("new")));
  const steps = [["create", keyed("new")]];
  await refused(403, "AuthorizationFailure", () => withSas(other.tableName, sas).submitTransaction(steps));
  assert.deepEqual(await rows(other.listEntities()), []);
});

for (const [name, call] of Object.entries({
  "list tables": (by, service) => service.listTables().next(),
  "create table": (by, service) => service.createTable(newName()),
  "delete table": (by) => by.deleteTable(),
  "get policies": (by) => by.getAccessPolicy(),
  "set policies": (by) => by.setAccessPolicy([]),
  "get properties": (by, service) => service.getProperties(),
})) {
  test(`SAS: of a table is not enough to ${name}`, async () => {
    const sas = generateTableSas(table, credential, { permissions: permissions("raud"), expiresOn: hours(1) });
    await refused(403, "AuthorizationFailure", () => call(withSas(table, sas), serviceWithSas(sas)));
  });
}
