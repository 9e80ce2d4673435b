import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { odata } from "@azure/data-tables";
import { keyed, own, refused, rows, suiteTable } from "./harness.js";

describe("filters", () => {
  const table = suiteTable();
  const query = (queryOptions) => table.listEntities({ queryOptions });

  before(async () => {
    const fruit = (row, n, Text, Ripe, when) =>
      table.createEntity(keyed(row, {
        Int: n, Text, Ripe, _x: "under", Long: 9007199254740992n + BigInt(n), Real: n - 0.5,
        Whole: { type: "Double", value: `${n}.0` }, When: { type: "DateTime", value: when },
        Id: { type: "Guid", value: `00000000-0000-0000-0000-00000000000${n}` }, Bytes: Uint8Array.of(10, n),
      }));
    await fruit("a", 1, "apple", true, "2020-01-01T00:00:00Z");
    await fruit("b", 2, "banana", false, "2021-01-01T00:00:00.0000001Z");
    await fruit("c", 3, "O'Brien's  pear", true, "2022-01-01T00:00:00Z");
    await table.createEntity(keyed("d"));
  });

  for (const [filter, expected] of [
    ["Int eq 2", "b"],
    ["Int ne 2", "ac"], // an absent property is never ne
    ["Int gt 2", "c"],
    ["Int ge 2", "bc"],
    ["Int lt 2", "a"],
    ["Int le 2", "ab"],
    ["2 lt Int", "c"],
    ["Long eq 9007199254740993L", "a"],
    ["Long gt 9007199254740993L", "bc"],
    ["Real eq 1.5", "b"],
    ["Real gt 1", "bc"],
    ["Whole eq 2.0", "b"],
    [odata`Text eq ${"O'Brien's  pear"}`, "c"],
    ["Text ge 'a' and Text lt 'b'", "a"],
    [odata`Ripe eq ${true}`, "ac"],
    ["Ripe ne true", "b"],
    ["When eq datetime'2021-01-01T00:00:00.0000001Z'", "b"],
    [odata`When gt ${new Date("2021-01-01T00:00:00Z")}`, "bc"],
    ["Timestamp gt datetime'2000-01-01T00:00:00Z'", "abcd"],
    ["Id eq guid'00000000-0000-0000-0000-000000000003'", "c"],
    ["Bytes eq X'0a02'", "b"],
    ["Bytes eq binary'0A03'", "c"],
    ["_x eq 'under'", "abc"],
    ["Missing ne 'x'", ""],
    ["not (Int eq 2)", "acd"],
    ["Int eq 1 or Int eq 2 and Ripe eq true", "a"],
    ["(Int eq 1 or Int eq 2) and Ripe eq false", "b"],
    ["PartitionKey eq 'p' and RowKey gt 'a' and RowKey le 'c'", "bc"],
    ["PartitionKey eq 'p' and RowKey eq 'nobody'", ""],
  ]) {
    test(filter, async () => assert.deepEqual(await rows(query({ filter })), [...expected]));
  }

  for (const [filter, status, code] of [
    ["aaa bbb ccc", 400, "InvalidInput"],
    ["(Int eq 1", 400, "InvalidInput"],
    ["Int eq 1 AND Int eq 2", 400, "InvalidInput"],
    ["'abc'", 400, "InvalidInput"],
    ["startswith(Text,'a')", 501, "NotImplemented"],
  ]) {
    test(`unusable: ${filter}`, () => refused(status, code, () => rows(query({ filter }))));
  }

  test("page too large", () =>
    refused(400, "InvalidInput", () => table.listEntities().byPage({ maxPageSize: 1001 }).next()));

  test("select", async () => {
    const selected = async (...select) => {
      const found = [];
      for await (const entity of query({ filter: "RowKey eq 'a'", select })) found.push(own(entity));
      return found;
    };
    assert.deepEqual(await selected("rowKey", "Int"), [{ rowKey: "a", Int: 1 }]);
    assert.deepEqual(await selected("Missing", "int"), [{ Missing: null, int: null }]);
    const [everything] = await selected("*");
    assert.equal(Object.keys(everything).length, 12); // ten properties and two keys
  });
});

describe("pages", () => {
  const table = suiteTable();
  const numbers = (from, to) => Array.from({ length: to - from }, (_, i) => String(from + i).padStart(4, "0"));
  const pages = async (queryOptions, settings) => {
    const found = [];
    for await (const page of table.listEntities({ queryOptions }).byPage(settings)) {
      found.push(page.map((entity) => entity.rowKey));
    }
    return found;
  };

  before(async () => {
    for (let start = 0; start < 1100; start += 100) {
      await table.submitTransaction(
        numbers(start, start + 100).map((row) => ["create", keyed(row, { N: Number(row) })]),
      );
    }
  });

  test("more than a page", async () => {
    assert.deepEqual(await rows(table.listEntities()), numbers(0, 1100));
    assert.deepEqual((await pages()).map((page) => page.length), [1000, 100]);
  });

  for (const [maxPageSize, sizes] of [[400, [400, 400, 300]], [550, [550, 550]]]) {
    test(`pages of ${maxPageSize}`, async () => {
      const found = await pages({}, { maxPageSize });
      assert.deepEqual(found.map((page) => page.length), sizes);
      assert.deepEqual(found.flat(), numbers(0, 1100));
    });
  }

  test("filtered pages", async () => {
    const found = await pages({ filter: "N ge 1000 and N lt 1070" }, { maxPageSize: 30 });
    assert.deepEqual(found, [numbers(1000, 1030), numbers(1030, 1060), numbers(1060, 1070)]);
  });

  test("resume from a token", async () => {
    const queryOptions = { filter: "N ge 500" };
    const first = (await table.listEntities({ queryOptions }).byPage({ maxPageSize: 10 }).next()).value;
    assert.deepEqual(await rows(first), numbers(500, 510));
    await table.deleteEntity("p", "0510"); // the token outlives the entity it names
    const rest = await pages(queryOptions, { continuationToken: first.continuationToken });
    await table.createEntity(keyed("0510", { N: 510 }));
    assert.deepEqual(rest.flat(), numbers(511, 1100));
  });
});
