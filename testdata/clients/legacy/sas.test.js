import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { edm, fileTable, keyed, newName, newTable, own, pages, refused, rows, service, TableBatch, TableQuery, withSas } from "./harness.js";

const table = await fileTable();
const hours = (count) => new Date(Date.now() + count * 3_600_000);

/** A service with a signature for the table: permissions, and what else a policy may say. */
const signed = (Permissions, more = {}, name = table) =>
  withSas(service.generateSharedAccessSignature(name, { AccessPolicy: { Permissions, Expiry: hours(1), ...more } }));
const bound = (Id, name = table, AccessPolicy = {}) => withSas(service.generateSharedAccessSignature(name, { Id, AccessPolicy }));

// Which permissions each operation needs.
const operations = {
  QueryEntities: ["r", (by) => rows(table, null, by)],
  GetEntity: ["r", (by) => by.retrieveEntity(table, "p", "there")],
  InsertEntity: ["a", (by) => by.insertEntity(table, keyed(newName()))],
  UpdateEntity: ["u", (by) => by.replaceEntity(table, keyed("there"))],
  MergeEntity: ["u", (by) => by.mergeEntity(table, keyed("there"))],
  "UpsertEntity, replacing": ["au", (by) => by.insertOrReplaceEntity(table, keyed("there"))],
  "UpsertEntity, merging": ["au", (by) => by.insertOrMergeEntity(table, keyed("there"))],
  DeleteEntity: ["d", async (by) => {
    const row = newName();
    await service.insertEntity(table, keyed(row));
    await by.deleteEntity(table, keyed(row));
  }],
};
await service.insertEntity(table, keyed("there"));

for (const permissions of ["r", "a", "u", "d", "au", "raud"]) {
  for (const [name, [needed, call]] of Object.entries(operations)) {
    const enough = [...needed].every((letter) => permissions.includes(letter));
    test(`SAS: ${permissions} ${enough ? "allows" : "refuses"} ${name}`, async () => {
      const by = signed(permissions);
      await (enough ? call(by) : refused(403, "AuthorizationPermissionMismatch", () => call(by)));
    });
  }
}

test("SAS: of a transaction each operation is looked at", async () => {
  const insert = new TableBatch();
  insert.insertEntity(keyed(newName()));
  const mixed = new TableBatch();
  const row = newName();
  mixed.insertEntity(keyed(row));
  mixed.replaceEntity(keyed("there"));
  await signed("a").executeBatch(table, insert);
  await refused(403, "AuthorizationPermissionMismatch", () => signed("a").executeBatch(table, mixed));
  await refused(404, "ResourceNotFound", () => service.retrieveEntity(table, "p", row));
  await signed("au").executeBatch(table, mixed);
});

for (const [why, more] of [
  ["expired", { Expiry: hours(-1) }],
  ["not yet valid", { Start: hours(1), Expiry: hours(2) }],
]) {
  test(`SAS: ${why}`, () => refused(403, "AuthenticationFailed", () => rows(table, null, signed("raud", more))));
}

test("SAS: valid from now on", () => signed("r", { Start: hours(-1) }).retrieveEntity(table, "p", "there"));

test("SAS: changed after it was signed", async () => {
  const sas = service.generateSharedAccessSignature(table, { AccessPolicy: { Permissions: "r", Expiry: hours(1) } });
  for (const [from, to] of [["sp=r", "sp=raud"], [/se=2/, "se=3"], [/sig=.../, "sig=AAA"]]) {
    const forged = sas.replace(from, to);
    assert.notEqual(forged, sas);
    await refused(403, "AuthenticationFailed", () => rows(table, null, withSas(forged)));
  }
});

test("SAS: any case of the table's name, but no other table", async (t) => {
  assert.ok((await rows(table.toUpperCase(), null, signed("r"))).includes("there"));
  const other = await newTable(t);
  await refused(403, "AuthorizationFailure", () => rows(other, null, signed("r")));
});

test("SAS: of a table allows nothing with tables and the service", async () => {
  const by = signed("raud");
  await refused(403, "AuthorizationFailure", () => by.listTablesSegmented(null));
  await refused(403, "AuthorizationFailure", () => by.createTable(newName()));
  await refused(403, "AuthorizationFailure", () => by.deleteTable(table));
  await refused(403, "AuthorizationFailure", () => by.getTableAcl(table));
  await refused(403, "AuthorizationFailure", () => by.setTableAcl(table, {}));
  await refused(403, "AuthorizationFailure", () => by.getServiceProperties());
});

test("SAS: bound to addresses", async () => {
  await signed("r", { IPAddressOrRange: "0.0.0.0-255.255.255.255" }).retrieveEntity(table, "p", "there");
  await refused(403, "AuthorizationSourceIPMismatch", () => rows(table, null, signed("r", { IPAddressOrRange: "203.0.113.7" })));
});

test("SAS: bound to a protocol", async () => {
  await signed("r", { Protocols: "https,http" }).retrieveEntity(table, "p", "there");
  await refused(403, "AuthorizationProtocolMismatch", () => rows(table, null, signed("r", { Protocols: "https" })));
});

describe("ranges of keys", async () => {
  const ranged = await fileTable();
  for (const partition of ["p1", "p2", "p3"]) {
    const batch = new TableBatch();
    for (const row of ["r1", "r2", "r3"]) batch.insertEntity(keyed(row, {}, partition));
    await service.executeBatch(ranged, batch);
  }
  const seen = async (by) => {
    const [{ entries }] = await by.queryEntities(ranged, null, null);
    return entries.map(({ PartitionKey, RowKey }) => PartitionKey._ + RowKey._).join(" ");
  };

  for (const [why, range, expected] of [
    ["partitions", { StartPk: "p2", EndPk: "p2" }, "p2r1 p2r2 p2r3"],
    ["from a row", { StartPk: "p2", StartRk: "r3" }, "p2r3 p3r1 p3r2 p3r3"],
    ["up to a row", { EndPk: "p1", EndRk: "r2" }, "p1r1 p1r2"],
    ["between rows", { StartPk: "p1", StartRk: "r3", EndPk: "p2", EndRk: "r1" }, "p1r3 p2r1"],
    ["nothing", { StartPk: "p9" }, ""],
  ]) {
    test(`SAS: a query sees only its range: ${why}`, async () => {
      assert.equal(await seen(signed("r", range, ranged)), expected);
    });
  }

  test("SAS: single entities only within its range", async () => {
    const by = signed("raud", { StartPk: "p2", StartRk: "r2", EndPk: "p2", EndRk: "r5" }, ranged);
    const within = keyed("r4", { A: edm.Int32(1) }, "p2");
    await by.insertEntity(ranged, within);
    assert.deepEqual(own((await by.retrieveEntity(ranged, "p2", "r4"))[0]), { A: 1 });
    await by.deleteEntity(ranged, within);
    for (const outside of [keyed("r1", {}, "p2"), keyed("r6", {}, "p2"), keyed("r3", {}, "p1")]) {
      const { PartitionKey, RowKey } = outside;
      await refused(404, "ResourceNotFound", () => by.retrieveEntity(ranged, PartitionKey._, RowKey._));
      for (const call of [
        () => by.insertEntity(ranged, outside),
        () => by.insertOrReplaceEntity(ranged, outside),
        () => by.mergeEntity(ranged, outside),
        () => by.deleteEntity(ranged, outside),
      ]) {
        await refused(403, "AuthorizationFailure", call);
      }
    }
  });

  test("SAS: a transaction only within its range", async () => {
    const by = signed("raud", { StartPk: "p3", StartRk: "r2", EndPk: "p3", EndRk: "r9" }, ranged);
    const batch = new TableBatch();
    batch.insertOrReplaceEntity(keyed("r8", {}, "p3"));
    await by.executeBatch(ranged, batch);
    batch.insertOrReplaceEntity(keyed("r1", { A: edm.Int32(1) }, "p3"));
    await refused(403, "AuthorizationFailure", () => by.executeBatch(ranged, batch));
    assert.deepEqual(own((await service.retrieveEntity(ranged, "p3", "r1"))[0]), {});
    await service.deleteEntity(ranged, keyed("r8", {}, "p3"));
  });

  test("SAS: a range in pages", async () => {
    const by = signed("r", { StartPk: "p1", StartRk: "r2", EndPk: "p3", EndRk: "r1" }, ranged);
    assert.deepEqual(await pages(ranged, new TableQuery().top(2), {}, by), [["r2", "r3"], ["r1", "r2"], ["r3", "r1"]]);
  });
});

test("SAS: by a stored policy, which may change and go", async (t) => {
  const name = await newTable(t);
  await service.setTableAcl(name, { policy: { Permissions: "ra", Expiry: hours(1) } });
  const by = bound("policy", name);
  await by.insertEntity(name, keyed("r"));
  assert.deepEqual(await rows(name, null, by), ["r"]);
  await refused(403, "AuthorizationPermissionMismatch", () => by.deleteEntity(name, keyed("r")));
  await service.setTableAcl(name, { policy: { Permissions: "d", Expiry: hours(1) } });
  await by.deleteEntity(name, keyed("r"));
  await refused(403, "AuthorizationPermissionMismatch", () => rows(name, null, by));
  await service.setTableAcl(name, { policy: { Permissions: "d", Expiry: hours(-1) } });
  await refused(403, "AuthenticationFailed", () => by.deleteEntity(name, keyed("r")));
  await service.setTableAcl(name, {});
  await refused(403, "AuthenticationFailed", () => by.deleteEntity(name, keyed("r")));
});

test("SAS: what the stored policy leaves open stands in the token", async (t) => {
  const name = await newTable(t);
  await service.setTableAcl(name, { policy: { Permissions: "r" } });
  assert.deepEqual(await rows(name, null, bound("policy", name, { Expiry: hours(1) })), []);
  await refused(403, "AuthenticationFailed", () => rows(name, null, bound("policy", name))); // nobody says until when
  await refused(403, "AuthenticationFailed", () => rows(name, null, bound("policy", name, { Expiry: hours(-1) })));
  await refused(403, "AuthenticationFailed", () => rows(name, null, bound("nobody", name, { Expiry: hours(1) })));
});
