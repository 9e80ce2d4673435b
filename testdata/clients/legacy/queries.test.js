import assert from "node:assert/strict";
import { test } from "node:test";
import { edm, fileTable, keyed, newName, numbers, own, pages, refused, rows, service, TableBatch, TableQuery } from "./harness.js";

const few = await fileTable();
const many = await fileTable();

const fruit = (row, n, text, ripe, when) =>
  service.insertEntity(few, keyed(row, {
    Int: edm.Int32(n), Text: edm.String(text), Ripe: edm.Boolean(ripe), _x: edm.String("under"),
    Long: edm.Int64((9007199254740992n + BigInt(n)).toString()), Real: edm.Double(n - 0.5), When: edm.DateTime(when),
    Id: edm.Guid(`00000000-0000-0000-0000-00000000000${n}`), Bytes: edm.Binary(Buffer.of(10, n)),
  }));
await fruit("a", 1, "apple", true, "2020-01-01T00:00:00Z");
await fruit("b", 2, "banana", false, "2021-01-01T00:00:00.0000001Z");
await fruit("c", 3, "O'Brien's  pear", true, "2022-01-01T00:00:00Z");
await service.insertEntity(few, keyed("d"));

for (let start = 0; start < 1100; start += 100) {
  const batch = new TableBatch();
  for (const row of numbers(start, start + 100)) batch.insertEntity(keyed(row, { N: edm.Int32(Number(row)) }));
  await service.executeBatch(many, batch);
}

const where = (...condition) => new TableQuery().where(...condition);

for (const [name, query, expected] of [
  ["Int ==", where("Int == ?", 2), "b"],
  ["Int !=, which an absent property never is", where("Int != ?", 2), "ac"],
  ["Int >", where("Int > ?int32?", 2), "c"],
  ["Int >=", where("Int >= ?int32?", 2), "bc"],
  ["Int <", where("Int < ?int32?", 2), "a"],
  ["Int <=", where("Int <= ?int32?", 2), "ab"],
  ["Int64", where("Long > ?int64?", "9007199254740993"), "bc"],
  ["Double", where("Real == ?double?", 1.5), "b"],
  ["String with quotes", where("Text == ?string?", "O'Brien's  pear"), "c"],
  ["String range", where("Text >= ?", "a").and("Text < ?", "b"), "a"],
  ["Boolean", where("Ripe == ?bool?", true), "ac"],
  ["DateTime", where("When > ?date?", new Date("2021-01-01T00:00:00Z")), "bc"],
  ["Guid", where("Id == ?guid?", "00000000-0000-0000-0000-000000000003"), "c"],
  ["Binary", where("Bytes == ?binary?", Buffer.of(10, 2)), "b"],
  ["name with an underscore", where("_x == ?", "under"), "abc"],
  ["absent property", where("Missing != ?", "x"), ""],
  ["not", where("not (Int eq 2)"), "acd"],
  ["&& and ||", where("Int == 1 || Int == 2 && Ripe == true"), "a"],
  ["or", where("Int == ?", 1).or("Int == ?", 3), "ac"],
  ["keys", where("PartitionKey == ?", "p").and("RowKey > ?", "a").and("RowKey <= ?", "c"), "bc"],
  ["no such key", where("PartitionKey == ? && RowKey == ?", "p", "nobody"), ""],
  ["no condition", new TableQuery(), "abcd"],
]) {
  test(`QueryEntities: filter, ${name}`, async () => assert.equal((await rows(few, query)).join(""), expected));
}

for (const [name, filter, expected] of [
  ["Int32", TableQuery.int32Filter("Int", "eq", 2), "b"],
  ["Int64", TableQuery.int64Filter("Long", "eq", "9007199254740993"), "a"],
  ["Double", TableQuery.doubleFilter("Real", "lt", 1.5), "a"],
  ["Boolean", TableQuery.booleanFilter("Ripe", "eq", false), "b"],
  ["DateTime", TableQuery.dateFilter("When", "eq", new Date("2022-01-01T00:00:00Z")), "c"],
  ["Guid", TableQuery.guidFilter("Id", "ne", "00000000-0000-0000-0000-000000000003"), "ab"],
  ["Binary", TableQuery.binaryFilter("Bytes", "eq", Buffer.of(10, 3)), "c"],
  ["String", TableQuery.stringFilter("Text", "eq", "apple"), "a"],
  ["two", TableQuery.combineFilters(TableQuery.int32Filter("Int", "gt", 1), "and", TableQuery.booleanFilter("Ripe", "eq", true)), "c"],
]) {
  test(`QueryEntities: filter made for ${name}`, async () => assert.equal((await rows(few, where(filter))).join(""), expected));
}

for (const [filter, status, code] of [
  ["aaa bbb ccc", 400, "InvalidInput"],
  ["(Int eq 1", 400, "InvalidInput"],
  ["startswith(Text,'a')", 501, "NotImplemented"],
]) {
  test(`Errors: a filter that is none: ${filter}`, () => refused(status, code, () => rows(few, where(filter))));
}

test("Errors: a page of 1001", () => refused(400, "InvalidInput", () => rows(many, new TableQuery().top(1001))));

test("QueryEntities: a table that is not there", () => refused(404, "TableNotFound", () => rows(newName(), null)));

test("QueryEntities: select", async () => {
  const selected = async (...names) => {
    const [{ entries }] = await service.queryEntities(few, where("RowKey == ?", "a").select(...names), null);
    return own(entries[0]);
  };
  assert.deepEqual(await selected("RowKey", "Int"), { Int: 1 });
  assert.deepEqual(await selected("Missing", "int"), { Missing: null, int: null });
  assert.equal(Object.keys(await selected("*")).length, 9);
});

test("QueryEntities: in every payload format", async () => {
  for (const [level, type] of [["no", undefined], ["minimal", "Edm.Int64"], ["full", "Edm.Int64"]]) {
    const [{ entries }] = await service.queryEntities(few, null, null, { payloadFormat: `application/json;odata=${level}metadata` });
    assert.deepEqual(entries.map((entity) => entity.RowKey._), [..."abcd"], level);
    assert.deepEqual([entries[1].Long._, entries[1].Long.$], ["9007199254740994", type], level);
  }
});

test("QueryEntities: with a resolver", async () => {
  const entityResolver = (entity) => entity.RowKey._ + (entity.Int?._ ?? "");
  const [{ entries }] = await service.queryEntities(few, null, null, { entityResolver });
  assert.deepEqual(entries, ["a1", "b2", "c3", "d"]);
});

test("QueryEntities: more than a page", async () => {
  const found = await pages(many, new TableQuery());
  assert.deepEqual(found.map((page) => page.length), [1000, 100]);
  assert.deepEqual(found.flat(), numbers(0, 1100));
});

test("QueryEntities: segments of 400", async () => {
  const found = await pages(many, new TableQuery().top(400));
  assert.deepEqual(found.map((page) => page.length), [400, 400, 300]);
  assert.deepEqual(found.flat(), numbers(0, 1100));
});

test("QueryEntities: filtered segments", async () => {
  const query = where("N >= ?int32? && N < ?int32?", 1000, 1070).top(30);
  assert.deepEqual(await pages(many, query), [numbers(1000, 1030), numbers(1030, 1060), numbers(1060, 1070)]);
});

test("QueryEntities: on from a token whose entity is gone", async () => {
  const query = where("N >= ? && N < ?", 500, 530).top(10);
  const [{ entries, continuationToken }] = await service.queryEntities(many, query, null);
  assert.deepEqual(entries.map((entity) => entity.RowKey._), numbers(500, 510));
  const [gone] = await service.retrieveEntity(many, "p", "0510");
  await service.deleteEntity(many, gone);
  try {
    const [next] = await service.queryEntities(many, query, continuationToken);
    assert.deepEqual(next.entries.map((entity) => entity.RowKey._), numbers(511, 521));
  } finally {
    await service.insertEntity(many, keyed("0510", { N: edm.Int32(510) }));
  }
});
