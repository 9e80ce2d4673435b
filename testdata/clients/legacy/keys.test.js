import assert from "node:assert/strict";
import { test } from "node:test";
import { edm, etag, conditional, fileTable, keyed, own, refused, rows, service, TableBatch, TableQuery, tooLong } from "./harness.js";
import { odd } from "../keys.mjs";

const table = await fileTable();

for (const [name, key] of Object.entries(odd)) {
  test(`GetEntity: by an odd key: ${name}`, async () => {
    if (tooLong(key, key)) {
      await refused(400, "KeyValueTooLarge", () => service.insertEntity(table, keyed(key, {}, key)));
      return;
    }
    const [inserted] = await service.insertEntity(table, keyed(key, { N: edm.Int32(1) }, key));
    const [read] = await service.retrieveEntity(table, key, key);
    assert.deepEqual([read.PartitionKey._, read.RowKey._, own(read)], [key, key, { N: 1 }]);
    const query = new TableQuery().where("PartitionKey == ?string? && RowKey == ?string?", key, key);
    assert.deepEqual(await rows(table, query), [key]);
    const entity = keyed(key, { N: edm.Int32(2) }, key);
    const [replaced] = await service.replaceEntity(table, conditional(entity, etag(inserted)));
    await service.insertOrMergeEntity(table, keyed(key, { M: edm.Int32(3) }, key));
    assert.deepEqual(own((await service.retrieveEntity(table, key, key))[0]), { N: 2, M: 3 });
    await refused(412, "UpdateConditionNotSatisfied", () => service.deleteEntity(table, conditional(entity, etag(replaced))));
    await service.deleteEntity(table, entity);
  });

  test(`EntityGroupTransaction: with an odd key: ${name}`, async () => {
    const partition = key + "t";
    const submit = async (operation, properties) => {
      const batch = new TableBatch();
      batch[operation](keyed(key, properties, partition));
      const [[{ response }]] = await service.executeBatch(table, batch);
      assert.equal(response.statusCode, 204);
    };
    if (tooLong(partition, key)) {
      await refused(400, "KeyValueTooLarge", () => submit("insertEntity"));
      return;
    }
    await submit("insertEntity", { N: edm.Int32(1) });
    await submit("mergeEntity", { M: edm.Int32(2) });
    assert.deepEqual(own((await service.retrieveEntity(table, partition, key))[0]), { N: 1, M: 2 });
    await submit("deleteEntity");
    await refused(404, "ResourceNotFound", () => service.retrieveEntity(table, partition, key));
  });
}

for (const [why, key, code] of [
  ["a slash", "a/b", "OutOfRangeInput"],
  ["a backslash", "a\\b", "OutOfRangeInput"],
  ["a hash", "a#b", "OutOfRangeInput"],
  ["a question mark", "a?b", "OutOfRangeInput"],
  ["a control character", "a\x01b", "OutOfRangeInput"],
  ["1025 characters", "k".repeat(1025), "PropertyValueTooLarge"],
]) {
  test(`Errors: a key is refused for ${why}`, async () => {
    await refused(400, code, () => service.insertEntity(table, keyed(key)));
    await refused(400, code, () => service.insertEntity(table, keyed("r", {}, key)));
  });
}
