import assert from "node:assert/strict";
import { test } from "node:test";
import { conditional, edm, endpoint, etag, fileTable, keyed, newName, own, refused, service } from "./harness.js";

const table = await fileTable();
const unknown = `W/"datetime'2012-06-15T22%3A51%3A44.9662825Z'"`;
const read = async (row, options) => (await service.retrieveEntity(table, "p", row, options))[0];

test("InsertEntity: without content", async () => {
  const [inserted, response] = await service.insertEntity(table, keyed("insert", { A: edm.String("x") }));
  assert.equal(response.statusCode, 204);
  const uri = `${endpoint}/${table}(PartitionKey='p',RowKey='insert')`;
  assert.equal(response.headers.location, uri);
  assert.equal(response.headers.dataserviceid, uri);
  assert.deepEqual(own(await read("insert")), { A: "x" });
  assert.equal(etag(await read("insert")), etag(inserted));
});

test("InsertEntity: with content", async () => {
  const [echo, response] = await service.insertEntity(table, keyed("echo", { A: edm.Int64("5") }), { echoContent: true });
  assert.equal(response.statusCode, 201);
  assert.equal(response.headers["preference-applied"], "return-content");
  assert.deepEqual(echo, await read("echo"));
  assert.deepEqual([echo.A, echo.PartitionKey._, echo.RowKey._], [edm.Int64("5"), "p", "echo"]);
});


test("InsertEntity: plain values get the type that their look suggests", async () => {
  await service.insertEntity(table, { PartitionKey: "p", RowKey: "plain", S: "x", I: 7, D: 1.5, B: true, T: new Date(0) });
  const { S, I, D, B, T } = await read("plain");
  assert.deepEqual([S._, I._, D._, B._, T], ["x", 7, 1.5, true, edm.DateTime(new Date(0))]);
});

test("InsertEntity: a second one with its keys", async () => {
  await service.insertEntity(table, keyed("twice"));
  await refused(409, "EntityAlreadyExists", () => service.insertEntity(table, keyed("twice")));
  await service.insertEntity(table, keyed("TWICE")); // keys are case-sensitive
});

test("GetEntity: in every payload format", async () => {
  await service.insertEntity(table, keyed("formats", { N: edm.Int64("5"), S: edm.String("x") }));
  for (const [level, type] of [["no", undefined], ["minimal", "Edm.Int64"], ["full", "Edm.Int64"]]) {
    const entity = await read("formats", { payloadFormat: `application/json;odata=${level}metadata` });
    assert.deepEqual([entity.N._, entity.N.$, entity.S._], ["5", type, "x"], level);
    assert.match(etag(entity), /^W\/"datetime'2.*Z'"$/, level);
  }
});

test("GetEntity: with resolvers", async () => {
  await service.insertEntity(table, keyed("resolvers", { N: edm.Int64("5"), D: edm.DateTime(new Date(0)) }));
  const payloadFormat = "application/json;odata=nometadata";
  const propertyResolver = (partition, row, name) => ({ N: "Edm.Int64", D: "Edm.DateTime" })[name] ?? "Edm.String";
  const entity = await read("resolvers", { payloadFormat, propertyResolver });
  assert.deepEqual([entity.N, entity.D], [edm.Int64("5"), edm.DateTime(new Date(0))]);
  assert.equal(await read("resolvers", { entityResolver: ({ RowKey }) => ({ row: RowKey._ }) }).then(({ row }) => row), "resolvers");
});

const missing = keyed("missing");
for (const [name, call] of Object.entries({
  "GetEntity": (name) => service.retrieveEntity(name, "p", "missing"),
  "UpdateEntity": (name) => service.replaceEntity(name, missing),
  "MergeEntity": (name) => service.mergeEntity(name, missing),
  "DeleteEntity": (name) => service.deleteEntity(name, missing),
})) {
  test(`${name}: not there, nor its table`, async () => {
    await refused(404, "ResourceNotFound", () => call(table));
    await refused(404, "TableNotFound", () => call(newName()));
  });
}

test("UpsertEntity: into a table that is not there", async () => {
  await refused(404, "TableNotFound", () => service.insertOrReplaceEntity(newName(), missing));
  await refused(404, "TableNotFound", () => service.insertOrMergeEntity(newName(), missing));
});

for (const [method, name, kept] of [
  ["insertOrReplaceEntity", "UpsertEntity: inserts or replaces", {}],
  ["insertOrMergeEntity", "UpsertEntity: inserts or merges", { Keep: "k" }],
  ["replaceEntity", "UpdateEntity: replaces", {}],
  ["mergeEntity", "MergeEntity: keeps what is not named", { Keep: "k" }],
]) {
  test(name, async () => {
    const first = keyed(method, { Keep: edm.String("k"), Change: edm.Int32(1) });
    const [inserted] = await (method.startsWith("insert") ? service[method](table, first) : service.insertEntity(table, first));
    const [updated, response] = await service[method](table, keyed(method, { Change: edm.String("new") }));
    assert.equal(response.statusCode, 204);
    assert.notEqual(etag(updated), etag(inserted));
    const entity = await read(method);
    assert.deepEqual(own(entity), { ...kept, Change: "new" });
    assert.equal(etag(entity), etag(updated));
  });
}

for (const [method, operation] of [
  ["replaceEntity", "UpdateEntity"],
  ["mergeEntity", "MergeEntity"],
  ["deleteEntity", "DeleteEntity"],
]) {
  test(`${operation}: only if unchanged`, async () => {
    const row = `conditional ${method}`;
    const [stale] = await service.insertEntity(table, keyed(row, { A: edm.Int32(1) }));
    const [current] = await service.replaceEntity(table, keyed(row, { A: edm.Int32(2) }));
    const change = (condition) => service[method](table, conditional(keyed(row, { A: edm.Int32(3) }), condition));
    await refused(412, "UpdateConditionNotSatisfied", () => change(etag(stale)));
    await refused(412, "UpdateConditionNotSatisfied", () => change(unknown));
    await refused(400, "InvalidInput", () => change("MalformedETag"));
    assert.deepEqual(own(await read(row)), { A: 2 });
    await change(etag(current));
    await service.insertOrReplaceEntity(table, keyed(row));
    await change("*");
  });
}

test("UpdateEntity: an entity as it was read goes back with its metadata", async () => {
  await service.insertEntity(table, keyed("back", { N: edm.Int64("5") }));
  const entity = await read("back");
  await service.replaceEntity(table, { ...entity, More: edm.Boolean(true) });
  assert.deepEqual(own(await read("back")), { N: "5", More: true });
  await refused(412, "UpdateConditionNotSatisfied", () => service.replaceEntity(table, entity));
});

test("DeleteEntity: is gone", async () => {
  await service.insertEntity(table, keyed("delete"));
  const [response] = await service.deleteEntity(table, keyed("delete"));
  assert.equal(response.statusCode, 204);
  await refused(404, "ResourceNotFound", () => read("delete"));
});
