import assert from "node:assert/strict";
import { test } from "node:test";
import { TableTransaction } from "@azure/data-tables";
import { keyed, newClient, newName, newTable, own, refused, rows } from "./harness.js";

const number = (n) => String(n).padStart(4, "0");
const creates = (count) => Array.from({ length: count }, (_, n) => ["create", keyed(number(n), { N: n })]);

test("a hundred", async (t) => {
  const table = await newTable(t);
  const answer = await table.submitTransaction(creates(100));
  assert.equal(answer.status, 202);
  const stored = [];
  for await (const entity of table.listEntities()) stored.push(entity);
  assert.deepEqual(
    answer.subResponses.map(({ status, rowKey, etag }) => [status, rowKey, etag]),
    stored.map(({ rowKey, etag }) => [204, rowKey, etag]),
  );
  assert.equal(answer.getResponseForEntity("0042").etag, stored[42].etag);
});

test("mixed", async (t) => {
  const table = await newTable(t);
  for (const row of ["delete", "merge", "replace", "upsert merge", "upsert replace"]) {
    await table.createEntity(keyed(row, { Old: 1 }));
  }
  const steps = new TableTransaction();
  steps.createEntity(keyed("create", { New: 1 }));
  steps.deleteEntity("p", "delete");
  steps.updateEntity(keyed("merge", { New: 1 }), "Merge");
  steps.updateEntity(keyed("replace", { New: 1 }), "Replace");
  steps.upsertEntity(keyed("upsert merge", { New: 1 }), "Merge");
  steps.upsertEntity(keyed("upsert new", { New: 1 }), "Merge");
  steps.upsertEntity(keyed("upsert replace", { New: 1 }), "Replace");
  const { subResponses } = await table.submitTransaction(steps.actions);
  assert.deepEqual(subResponses.map((part) => part.status), Array(7).fill(204));
  const found = [];
  for await (const entity of table.listEntities()) found.push(own(entity));
  assert.deepEqual(found, [
    keyed("create", { New: 1 }),
    keyed("merge", { New: 1, Old: 1 }),
    keyed("replace", { New: 1 }),
    keyed("upsert merge", { New: 1, Old: 1 }),
    keyed("upsert new", { New: 1 }),
    keyed("upsert replace", { New: 1 }),
  ]);
});

const failures = {
  "existing entity": [() => ["create", keyed("there")], 409, "EntityAlreadyExists"],
  "missing entity": [() => ["update", keyed("nowhere"), "Merge"], 404, "ResourceNotFound"],
  "delete of missing entity": [() => ["delete", keyed("nowhere")], 404, "ResourceNotFound"],
  "stale merge": [(etag) => ["update", keyed("there"), "Merge", { etag }], 412, "UpdateConditionNotSatisfied"],
  "stale replace": [(etag) => ["update", keyed("there"), "Replace", { etag }], 412, "UpdateConditionNotSatisfied"],
  "row twice": [() => ["upsert", keyed("new"), "Merge"], 400, "InvalidDuplicateRow"],
  "value too large": [() => ["create", keyed("large", { A: "x".repeat(32769) })], 400, "PropertyValueTooLarge"],
};
for (const [name, [failing, status, code]] of Object.entries(failures)) {
  test(`nothing is stored: ${name}`, async (t) => {
    const table = await newTable(t);
    const stale = (await table.createEntity(keyed("there", { A: 1 }))).etag;
    await table.updateEntity(keyed("there"));
    const { etag } = await table.createEntity(keyed("victim"));
    const steps = [
      ["create", keyed("new")],
      ["update", keyed("victim", { A: 2 }), "Merge"],
      ["upsert", keyed("newer"), "Replace"],
      failing(stale),
      ["create", keyed("newest")],
    ];
    const error = await refused(status, code, () => table.submitTransaction(steps));
    assert.match(error.message, /^3:/); // the index of the failing operation
    assert.deepEqual(await rows(table.listEntities()), ["there", "victim"]);
    assert.equal((await table.getEntity("p", "victim")).etag, etag);
  });
}

test("more than a hundred", async (t) => {
  const table = await newTable(t);
  const error = await refused(400, "InvalidInput", () => table.submitTransaction(creates(101)));
  assert.match(error.message, /^99:/);
  assert.deepEqual(await rows(table.listEntities()), []);
});

test("missing table", () =>
  refused(404, "TableNotFound", () => newClient(newName()).submitTransaction(creates(2))));

test("different partitions are refused by the SDK", async (t) => {
  const table = await newTable(t);
  const steps = [["create", keyed("r")], ["create", keyed("r", {}, "q")]];
  await assert.rejects(() => table.submitTransaction(steps), /same partitionKey/);
});

test("conditions", async (t) => {
  const table = await newTable(t);
  const etags = {};
  for (const row of ["merge", "replace"]) etags[row] = (await table.createEntity(keyed(row, { A: 1 }))).etag;
  const steps = () => [
    ["update", keyed("merge", { A: 2 }), "Merge", { etag: etags.merge }],
    ["update", keyed("replace", { A: 2 }), "Replace", { etag: etags.replace }],
  ];
  const { subResponses } = await table.submitTransaction(steps());
  assert.equal((await table.getEntity("p", "merge")).A, 2);
  await refused(412, "UpdateConditionNotSatisfied", () => table.submitTransaction(steps()));
  [etags.merge, etags.replace] = subResponses.map((part) => part.etag);
  await table.submitTransaction(steps()); // with the ETags the transaction answered
});

test("large", async (t) => {
  const table = await newTable(t);
  const sized = (characters) => {
    const half = "x".repeat(characters / 2);
    return Array.from({ length: 100 }, (_, n) => ["upsert", keyed(number(n), { A: half, B: half }), "Replace"]);
  };
  await table.submitTransaction(sized(40_000)); // just below 4 MiB with the framing
  const sizes = [];
  for await (const entity of table.listEntities()) sizes.push(entity.B.length);
  assert.deepEqual(sizes, Array(100).fill(20_000));
  await refused(413, "RequestBodyTooLarge", () => table.submitTransaction(sized(43_000)));
});
