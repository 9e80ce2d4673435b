import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { keyed, own, refused, suiteTable, wire } from "./harness.js";

const guid = "c9da6455-213d-42c9-9a79-3e9149a57833";

describe("types", () => {
  const table = suiteTable();

  const native = {
    "int32 max": 2147483647,
    "int32 min": -2147483648,
    "int64 max": 9223372036854775807n,
    "int64 min": -9223372036854775808n,
    "int64 beyond 2^53": 9007199254740993n,
    "int64 small": 5n,
    "true": true,
    "false": false,
    "double": 1.5,
    "double tenth": 0.1,
    "double smallest": 5e-324,
    "date": new Date("2020-02-29T12:34:56.123Z"),
    "date earliest": new Date("1601-01-01T00:00:00Z"),
    "date latest": new Date("9999-12-31T23:59:59.999Z"),
    "binary": Uint8Array.from({ length: 256 }, (_, i) => i),
    "binary empty": new Uint8Array(0),
    "binary largest": new Uint8Array(65536).fill(7),
    "guid": { type: "Guid", value: guid },
    "string empty": "",
    "string blanks": "  x  ",
    "string controls": "tab\t cr\r lf\n quote\" backslash\\ slash/ bell\x07",
    "string unicode": "Zażółć gęślą jaźń — 漢字 — عربى",
    "string emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 \u{10FFFD}",
    "string largest": "漢".repeat(32768),
  };
  for (const [row, value] of Object.entries(native)) {
    test(`round trip: ${row}`, async () => {
      await table.createEntity(keyed(row, { V: value }));
      const { V } = await table.getEntity("p", row);
      assert.deepEqual(V instanceof Uint8Array ? Uint8Array.from(V) : V, value);
    });
  }

  // Values beyond what JavaScript's own types hold go as text with a type, and come back so on request.
  const typed = {
    "datetime latest": ["DateTime", "9999-12-31T23:59:59.9999999Z"],
    "datetime tick": ["DateTime", "2020-02-29T12:34:56.0000001Z"],
    "datetime zeros are cut": ["DateTime", "2020-02-29T12:34:56.1200000Z", "2020-02-29T12:34:56.12Z"],
    "guid is lower-case": ["Guid", guid.toUpperCase(), guid],
    "binary as base64": ["Binary", "AAECA//+"],
    "double NaN": ["Double", "NaN"],
    "double Infinity": ["Double", "Infinity"],
    "double -Infinity": ["Double", "-Infinity"],
    "int64 as text": ["Int64", "-9007199254740993"],
  };
  for (const [row, [type, sent, answered = sent]] of Object.entries(typed)) {
    test(`typed: ${row}`, async () => {
      await table.createEntity(keyed(row, { V: { type, value: sent } }));
      const { V } = await table.getEntity("p", row, { disableTypeConversion: true });
      assert.deepEqual(V, { type, value: answered });
    });
  }

  // JavaScript cannot tell 5.0 from 5, so look at the wire.
  for (const value of [5, 0, 1e20, 123456789012345680, Number.MAX_VALUE]) {
    test(`a double stays a double: ${value}`, async () => {
      const row = `double ${value}`;
      await table.createEntity(keyed(row, { V: { type: "Double", value: String(value) } }));
      const { bodyAsText } = await wire((options) => table.getEntity("p", row, options));
      const [, text] = bodyAsText.match(/"V":([^,}]*)/);
      assert.match(text, /[.eE]/);
      assert.equal(Number(text), value);
    });
  }

  test("negative zero", async () => {
    await table.createEntity(keyed("negative zero", { V: { type: "Double", value: "-0.0" } }));
    const { bodyAsText } = await wire((options) => table.getEntity("p", "negative zero", options));
    assert.match(bodyAsText, /"V":-?0\.0[,}]/);
  });

  test("null and undefined are not stored", async () => {
    await table.createEntity(keyed("null", { A: null, B: undefined }));
    assert.deepEqual(own(await table.getEntity("p", "null")), keyed("null"));
  });

  test("property names", async () => {
    const names = ["çñ", "Имя", "漢字", "_private", "Birthday", "birthday", "n".repeat(255)];
    const entity = keyed("names", Object.fromEntries(names.map((name) => [name, `value of ${name}`])));
    await table.createEntity(entity);
    assert.deepEqual(own(await table.getEntity("p", "names")), entity);
  });

  const many = (count, value) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`P${i}`, value]));
  for (const [row, properties, status, code] of [
    ["string of 32769 characters", { A: "x".repeat(32769) }, 400, "PropertyValueTooLarge"],
    ["binary of 65537 bytes", { A: new Uint8Array(65537) }, 400, "PropertyValueTooLarge"],
    ["253 properties", many(253, 1), 400, "TooManyProperties"],
    ["above 1 MiB", many(16, "x".repeat(32768)), 400, "EntityTooLarge"],
    ["name of 256 characters", { ["n".repeat(256)]: 1 }, 400, "PropertyNameTooLong"],
    ["name with a dash", { "a-b": 1 }, 400, "PropertyNameInvalid"],
    ["date before 1601", { A: new Date("1600-12-31T23:59:59Z") }, 400, "OutOfRangeInput"],
    ["broken guid", { A: { type: "Guid", value: "no guid" } }, 400, "InvalidInput"],
    ["int64 out of range", { A: 9223372036854775808n }, 400, "InvalidInput"],
    ["body above 4 MiB", { A: "x".repeat(4 << 20) }, 413, "RequestBodyTooLarge"],
  ]) {
    test(`refused: ${row}`, async () => {
      await refused(status, code, () => table.createEntity(keyed(row, properties)));
      await refused(404, "ResourceNotFound", () => table.getEntity("p", row));
    });
  }

  test("accepted at the limits", async () => {
    await table.createEntity(keyed("252 properties", many(252, 1)));
    await table.createEntity(keyed("just below 1 MiB", many(15, "x".repeat(32768))));
    assert.equal(Object.keys(own(await table.getEntity("p", "252 properties"))).length, 254);
  });
});
