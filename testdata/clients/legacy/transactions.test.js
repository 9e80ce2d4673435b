import assert from "node:assert/strict";
import { test } from "node:test";
import { conditional, edm, etag, keyed, newName, newTable, numbers, own, pages, refused, rows, service, TableBatch, TableQuery } from "./harness.js";

const creates = (count) => {
  const batch = new TableBatch();
  for (const row of numbers(0, count)) batch.insertEntity(keyed(row, { N: edm.Int32(Number(row)) }));
  return batch;
};

test("EntityGroupTransaction: a hundred", async (t) => {
  const table = await newTable(t);
  const [parts] = await service.executeBatch(table, creates(100));
  const [{ entries }] = await service.queryEntities(table, null, null);
  assert.deepEqual(parts.map(({ response }) => response.statusCode), Array(100).fill(204));
  assert.deepEqual(parts.map(({ entity }) => etag(entity)), entries.map(etag));
  assert.deepEqual(entries.map((entity) => entity.RowKey._), numbers(0, 100));
});

test("EntityGroupTransaction: every kind of operation", async (t) => {
  const table = await newTable(t);
  for (const row of ["delete", "merge", "replace", "upsert merge", "upsert replace"]) {
    await service.insertEntity(table, keyed(row, { Old: edm.Int32(1) }));
  }
  const fresh = (row) => keyed(row, { New: edm.Int32(1) });
  const batch = new TableBatch();
  batch.insertEntity(fresh("create"), { echoContent: false });
  batch.insertEntity(fresh("echo"), { echoContent: true });
  batch.deleteEntity(keyed("delete"));
  batch.mergeEntity(fresh("merge"));
  batch.replaceEntity(fresh("replace"));
  batch.insertOrMergeEntity(fresh("upsert merge"));
  batch.insertOrMergeEntity(fresh("upsert new"));
  batch.insertOrReplaceEntity(fresh("upsert replace"));
  const [parts] = await service.executeBatch(table, batch);
  assert.deepEqual(parts.map(({ response }) => response.statusCode), [204, 201, 204, 204, 204, 204, 204, 204]);
  assert.deepEqual([parts[1].entity.RowKey._, parts[1].entity.New._], ["echo", 1]);
  // Operations from the second on are numbered, and the numbers come back.
  assert.deepEqual(parts.map(({ response }) => response.headers["content-id"]), [undefined, ..."1234567"]);
  const [{ entries }] = await service.queryEntities(table, null, null);
  assert.deepEqual(Object.fromEntries(entries.map((entity) => [entity.RowKey._, own(entity)])), {
    "create": { New: 1 },
    "echo": { New: 1 },
    "merge": { New: 1, Old: 1 },
    "replace": { New: 1 },
    "upsert merge": { New: 1, Old: 1 },
    "upsert new": { New: 1 },
    "upsert replace": { New: 1 },
  });
});

test("EntityGroupTransaction: a single retrieval", async (t) => {
  const table = await newTable(t);
  await service.insertEntity(table, keyed("r", { A: edm.Int64("5") }));
  const retrieval = (row) => {
    const batch = new TableBatch();
    batch.retrieveEntity("p", row);
    return service.executeBatch(table, batch);
  };
  const [[{ response, entity }]] = await retrieval("r");
  assert.equal(response.statusCode, 200);
  assert.deepEqual(own(entity), { A: "5" });
  const { message } = await refused(404, "ResourceNotFound", () => retrieval("missing"));
  assert.match(message, /^0:/);
});

const failures = {
  "an entity that exists": [(batch) => batch.insertEntity(keyed("there")), 409, "EntityAlreadyExists"],
  "a merge of nothing": [(batch) => batch.mergeEntity(keyed("nowhere")), 404, "ResourceNotFound"],
  "a deletion of nothing": [(batch) => batch.deleteEntity(keyed("nowhere")), 404, "ResourceNotFound"],
  "a stale merge": [(batch, stale) => batch.mergeEntity(conditional(keyed("there"), stale)), 412, "UpdateConditionNotSatisfied"],
  "a stale replacement": [(batch, stale) => batch.replaceEntity(conditional(keyed("there"), stale)), 412, "UpdateConditionNotSatisfied"],
  "a stale deletion": [(batch, stale) => batch.deleteEntity(conditional(keyed("there"), stale)), 412, "UpdateConditionNotSatisfied"],
  "a row twice": [(batch) => batch.insertOrMergeEntity(keyed("new")), 400, "InvalidDuplicateRow"],
  "a value too large": [(batch) => batch.insertEntity(keyed("large", { A: edm.String("x".repeat(32769)) })), 400, "PropertyValueTooLarge"],
};
for (const [name, [failing, status, code]] of Object.entries(failures)) {
  test(`EntityGroupTransaction: nothing is stored for ${name}`, async (t) => {
    const table = await newTable(t);
    const [stale] = await service.insertEntity(table, keyed("there", { A: edm.Int32(1) }));
    await service.replaceEntity(table, keyed("there"));
    const [victim] = await service.insertEntity(table, keyed("victim"));
    const batch = new TableBatch();
    batch.insertEntity(keyed("new"));
    batch.mergeEntity(keyed("victim", { A: edm.Int32(2) }));
    batch.insertOrReplaceEntity(keyed("newer"));
    failing(batch, etag(stale));
    batch.insertEntity(keyed("newest"));
    const { message } = await refused(status, code, () => service.executeBatch(table, batch));
    assert.match(message, /^3:/); // the index of the failing operation
    assert.deepEqual(await rows(table, new TableQuery()), ["there", "victim"]);
    assert.equal(etag((await service.retrieveEntity(table, "p", "victim"))[0]), etag(victim));
  });
}

test("EntityGroupTransaction: a table that is not there", () =>
  refused(404, "TableNotFound", () => service.executeBatch(newName(), creates(2))));

test("EntityGroupTransaction: what the SDK itself refuses", () => {
  assert.throws(() => creates(101), /batch/i);
  const batch = creates(1);
  assert.throws(() => batch.insertEntity(keyed("r", {}, "q")), /partition/i);
  assert.throws(() => batch.retrieveEntity("p", "r"), /batch/i);
});

test("EntityGroupTransaction: up to 4 MiB", async (t) => {
  const table = await newTable(t);
  const sized = (characters) => {
    const half = edm.String("x".repeat(characters / 2));
    const batch = new TableBatch();
    for (const row of numbers(0, 100)) batch.insertOrReplaceEntity(keyed(row, { A: half, B: half }));
    return batch;
  };
  await service.executeBatch(table, sized(40_000)); // just below 4 MiB with the framing
  const lengths = await pages(table, null, {}, service, (entity) => entity.B._.length); // a page may have less than 4 MiB
  assert.deepEqual(lengths.flat(), Array(100).fill(20_000));
  await refused(413, "RequestBodyTooLarge", () => service.executeBatch(table, sized(43_000)));
});
