import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { keyed, newClient, newName, own, refused, rows, suiteTable, wire } from "./harness.js";

const modes = ["Merge", "Replace"];
const unknown = `W/"datetime'2012-06-15T22%3A51%3A44.9662825Z'"`;

describe("entities", () => {
  const table = suiteTable();

  test("create", async () => {
    const { etag } = await table.createEntity(keyed("create", { A: "x" }));
    const read = await table.getEntity("p", "create");
    assert.deepEqual(own(read), keyed("create", { A: "x" }));
    assert.equal(read.etag, etag);
    assert.equal(etag, `W/"datetime'${read.timestamp.replaceAll(":", "%3A")}'"`);
    await refused(409, "EntityAlreadyExists", () => table.createEntity(keyed("create")));
    await table.createEntity(keyed("CREATE")); // keys are case-sensitive
  });

  test("an insert without content names the entity in Location", async () => {
    const response = await wire((options) => table.createEntity(keyed("location"), options));
    assert.equal(response.status, 204);
    assert.equal(response.headers.get("preference-applied"), "return-no-content");
    assert.equal(response.bodyAsText || "", "");
    const uri = `${table.url.replace(/\/$/, "")}/${table.tableName}(PartitionKey='p',RowKey='location')`;
    assert.equal(response.headers.get("location"), uri);
    assert.equal(response.headers.get("dataserviceid"), uri);
  });

  test("select", async () => {
    await table.createEntity(keyed("select", { A: "x", B: 1 }));
    const select = (...names) => table.getEntity("p", "select", { queryOptions: { select: names } });
    assert.deepEqual(own(await select("A")), { A: "x" });
    assert.deepEqual(own(await select("rowKey", "Missing")), { rowKey: "select", Missing: null });
  });

  for (const mode of modes) {
    const kept = mode === "Merge" ? { Keep: "k" } : {};

    test(`update ${mode}`, async () => {
      const row = `update ${mode}`;
      const first = await table.createEntity(keyed(row, { Keep: "k", Change: 1 }));
      const second = await table.updateEntity(keyed(row, { Change: "new", Gone: null }), mode);
      assert.notEqual(second.etag, first.etag);
      const read = await table.getEntity("p", row);
      assert.deepEqual(own(read), keyed(row, { ...kept, Change: "new" }));
      assert.equal(read.etag, second.etag);
    });

    test(`upsert ${mode}`, async () => {
      const row = `upsert ${mode}`;
      await table.upsertEntity(keyed(row, { Keep: "k" }), mode);
      await table.upsertEntity(keyed(row, { Fresh: true }), mode);
      assert.deepEqual(own(await table.getEntity("p", row)), keyed(row, { ...kept, Fresh: true }));
    });
  }

  test("missing entity and missing table", async () => {
    for (const [client, code] of [[table, "ResourceNotFound"], [newClient(newName()), "TableNotFound"]]) {
      await refused(404, code, () => client.getEntity("p", "missing"));
      await refused(404, code, () => client.deleteEntity("p", "missing"));
      for (const mode of modes) {
        await refused(404, code, () => client.updateEntity(keyed("missing"), mode));
      }
    }
    const nowhere = newClient(newName());
    await refused(404, "TableNotFound", () => nowhere.upsertEntity(keyed("missing")));
    await refused(404, "TableNotFound", () => rows(nowhere.listEntities()));
  });

  const writes = {
    merge: (row, etag) => table.updateEntity(keyed(row, { A: 2 }), "Merge", { etag }),
    replace: (row, etag) => table.updateEntity(keyed(row, { A: 2 }), "Replace", { etag }),
    delete: (row, etag) => table.deleteEntity("p", row, { etag }),
  };
  for (const [name, write] of Object.entries(writes)) {
    test(`conditional ${name}`, async () => {
      const row = `conditional ${name}`;
      const stale = (await table.createEntity(keyed(row, { A: 1 }))).etag;
      const current = (await table.updateEntity(keyed(row))).etag;
      await refused(412, "UpdateConditionNotSatisfied", () => write(row, stale));
      await refused(412, "UpdateConditionNotSatisfied", () => write(row, unknown));
      await refused(400, "InvalidInput", () => write(row, "MalformedETag"));
      assert.equal((await table.getEntity("p", row)).A, 1);
      await write(row, current);
      await table.upsertEntity(keyed(row));
      await write(row, "*");
    });
  }
});
