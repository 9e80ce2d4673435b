import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import azure from "azure-storage";
import { conditional, edm, endpoint, etag, fileTable, keyed, newService, own, promised, refused, secondary, service, TableBatch, TableQuery } from "./harness.js";

const { LinearRetryPolicyFilter, ExponentialRetryPolicyFilter } = azure;
const { PRIMARY_THEN_SECONDARY } = azure.StorageUtilities.LocationMode;
const table = await fileTable();
const filters = {
  linear: () => new LinearRetryPolicyFilter(2, 1),
  exponential: () => new ExponentialRetryPolicyFilter(2, 1, 1, 2),
};

/** A service that tries again, by way of these hosts, and the addresses that it asked. */
function persistent(filter = filters.linear(), hosts = undefined) {
  const retrying = newService(undefined, hosts).withFilter(filter);
  const asked = [];
  retrying.on("sendingRequestEvent", ({ uri }) => asked.push(uri));
  return [promised(retrying), asked];
}

/** A relay to the server: of each client it hangs up when the first reply comes, which is lost after the deed. */
async function losesFirstReply(t) {
  const { hostname, port, pathname } = new URL(endpoint);
  let lost = false;
  const relay = createServer((client) => {
    const server = connect({ host: hostname, port });
    client.pipe(server);
    server.on("data", (reply) => {
      if (lost) {
        client.write(reply);
      } else {
        lost = true;
        client.resetAndDestroy();
        server.destroy();
      }
    });
    server.on("close", () => client.end());
    client.on("close", () => server.destroy());
    for (const side of [client, server]) side.on("error", () => side.destroy());
    t.after(() => client.destroy());
  });
  await new Promise((listening) => relay.listen(0, "127.0.0.1", listening));
  t.after(() => relay.close());
  return { primaryHost: `http://127.0.0.1:${relay.address().port}${pathname}` };
}

for (const [kind, filter] of Object.entries(filters)) {
  test(`Retry: an upsert whose reply was lost is sent again (${kind})`, async (t) => {
    const [persisting, asked] = persistent(filter(), await losesFirstReply(t));
    const [{ ".metadata": written }] = await persisting.insertOrReplaceEntity(table, keyed(`upsert ${kind}`, { A: edm.Int32(1) }));
    assert.equal(asked.length, 2);
    const [read] = await service.retrieveEntity(table, "p", `upsert ${kind}`);
    assert.deepEqual([own(read), etag(read)], [{ A: 1 }, written.etag]);
  });
}

test("Retry: an insert whose reply was lost finds its own entity", async (t) => {
  const [persisting, asked] = persistent(filters.linear(), await losesFirstReply(t));
  await refused(409, "EntityAlreadyExists", () => persisting.insertEntity(table, keyed("insert", { A: edm.Int32(1) })));
  assert.equal(asked.length, 2);
  assert.deepEqual(own((await service.retrieveEntity(table, "p", "insert"))[0]), { A: 1 });
});

test("Retry: an update whose reply was lost is not done twice thanks to its condition", async (t) => {
  const [{ ".metadata": { etag: first } }] = await service.insertEntity(table, keyed("update"));
  const [persisting, asked] = persistent(filters.linear(), await losesFirstReply(t));
  const entity = conditional(keyed("update", { A: edm.Int32(2) }), first);
  await refused(412, "UpdateConditionNotSatisfied", () => persisting.mergeEntity(table, entity));
  assert.equal(asked.length, 2);
  assert.deepEqual(own((await service.retrieveEntity(table, "p", "update"))[0]), { A: 2 });
});

test("Retry: a transaction whose reply was lost is sent again", async (t) => {
  const [persisting, asked] = persistent(filters.linear(), await losesFirstReply(t));
  const batch = new TableBatch();
  for (const row of ["t1", "t2"]) batch.insertOrReplaceEntity(keyed(row, { A: edm.Int32(1) }));
  const [parts] = await persisting.executeBatch(table, batch);
  assert.deepEqual(parts.map(({ response }) => response.statusCode), [204, 204]);
  assert.equal(asked.length, 2);
});

test("Retry: refusals are final", async () => {
  const [persisting, asked] = persistent(filters.exponential());
  await service.insertOrReplaceEntity(table, keyed("there"));
  await refused(409, "EntityAlreadyExists", () => persisting.insertEntity(table, keyed("there")));
  await refused(404, "ResourceNotFound", () => persisting.retrieveEntity(table, "p", "missing"));
  await refused(400, "InvalidInput", () => persisting.queryEntities(table, new TableQuery().where("no filter"), null));
  await refused(501, "NotImplemented", () => persisting.queryEntities(table, new TableQuery().where("startswith(A,'a')"), null));
  assert.equal(asked.length, 4);
});

test("Retry: a query goes on at the secondary address", async () => {
  await service.insertOrReplaceEntity(table, keyed("secondary"));
  const nobody = "http://127.0.0.1:1" + new URL(endpoint).pathname; // no server has this port
  const [persisting, asked] = persistent(filters.linear(), { primaryHost: nobody, secondaryHost: secondary });
  const query = new TableQuery().where("RowKey == ?", "secondary");
  const [{ entries }] = await persisting.queryEntities(table, query, null, { locationMode: PRIMARY_THEN_SECONDARY });
  assert.equal(entries.length, 1);
  assert.deepEqual(asked.map((at) => at.split(`/${table}`)[0]), [nobody, secondary]);
});

test("Errors: a write at the secondary address", async () => {
  const there = promised(newService(undefined, { primaryHost: secondary }));
  for (const write of [
    () => there.createTable(table + "2"),
    () => there.deleteTable(table),
    () => there.insertEntity(table, keyed("w")),
    () => there.insertOrMergeEntity(table, keyed("w")),
    () => there.deleteEntity(table, keyed("there")),
  ]) {
    await refused(403, "InsufficientAccountPermissions", write);
  }
});
