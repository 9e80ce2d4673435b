import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileTable, keyed, newName, newTable, refused, rows, service } from "./harness.js";

const there = await fileTable();

test("CreateTable: without content", async (t) => {
  const name = newName();
  t.after(() => service.deleteTable(name));
  const [result, response] = await service.createTable(name);
  assert.deepEqual(result, { isSuccessful: true, statusCode: 204, TableName: name });
  assert.equal(response.headers["preference-applied"], "return-no-content");
});

test("CreateTable: a name that is taken, in any case", async () => {
  for (const name of [there, there.toUpperCase()]) {
    await refused(409, "TableAlreadyExists", () => service.createTable(name));
  }
});

test("CreateTable: if it does not exist", async (t) => {
  const name = newName();
  t.after(() => service.deleteTable(name));
  assert.equal((await service.createTableIfNotExists(name))[0].created, true);
  assert.equal((await service.createTableIfNotExists(name))[0].created, false);
});

test("CreateTable: names that the SDK itself refuses", async () => {
  for (const name of ["tables", "ab", "a-b", "1abc", "a".repeat(64)]) {
    await assert.rejects(() => service.createTable(name), /[Tt]able name/, name);
  }
});

test("GetTable: is there, or not", async () => {
  assert.equal((await service.doesTableExist(there))[0].exists, true);
  assert.equal((await service.doesTableExist(newName()))[0].exists, false);
});

test("DeleteTable: is gone", async (t) => {
  const name = await newTable(t);
  const [response] = await service.deleteTable(name.toLowerCase());
  assert.equal(response.statusCode, 204);
  await refused(404, "ResourceNotFound", () => service.deleteTable(name));
  await refused(404, "TableNotFound", () => service.insertEntity(name, keyed("r")));
});

test("DeleteTable: if it exists", async (t) => {
  const name = await newTable(t);
  assert.equal((await service.deleteTableIfExists(name))[0], true);
  assert.equal((await service.deleteTableIfExists(name))[0], false);
});

test("DeleteTable: a table made anew is empty", async (t) => {
  const name = await newTable(t);
  await service.insertEntity(name, keyed("r"));
  await service.deleteTable(name);
  await service.createTable(name);
  assert.deepEqual(await rows(name, null), []);
});

describe("lists of tables", () => {
  const prefix = newName();
  const names = [..."AbCdE"].map((letter) => prefix + letter);
  before(() => Promise.all(names.map((name) => service.createTable(name))));
  after(() => Promise.all(names.map((name) => service.deleteTable(name))));

  test("QueryTables: by a prefix, sorted, in the case of their making", async () => {
    const [{ entries, continuationToken }] = await service.listTablesSegmentedWithPrefix(prefix, null);
    assert.deepEqual(entries, names);
    assert.equal(continuationToken, null);
  });

  test("QueryTables: segments", async () => {
    const found = [];
    let token = null;
    do {
      const [page] = await service.listTablesSegmentedWithPrefix(prefix, token, { maxResults: 2 });
      found.push(page.entries);
      token = page.continuationToken;
    } while (token);
    assert.deepEqual(found, [names.slice(0, 2), names.slice(2, 4), names.slice(4)]);
  });

  test("QueryTables: all of them, in every payload format", async () => {
    for (const level of ["no", "minimal", "full"]) {
      const found = [];
      let token = null;
      do {
        const [page] = await service.listTablesSegmented(token, { payloadFormat: `application/json;odata=${level}metadata` });
        found.push(...page.entries);
        token = page.continuationToken;
      } while (token);
      assert.deepEqual(found.filter((name) => name.startsWith(prefix)), names, level);
    }
  });
});
