import assert from "node:assert/strict";
import { test } from "node:test";
import { edm, fileTable, keyed, own, refused, service } from "./harness.js";

const table = await fileTable();
const guid = "c9da6455-213d-42c9-9a79-3e9149a57833";
const read = async (row, options) => (await service.retrieveEntity(table, "p", row, options))[0];

// Whether the SDK learns the value's type: from an annotation, or from a Double that is written 5.0 and not 5.
const named = ({ _: value, $: type }) =>
  type === "Edm.Double" ? !Number.isFinite(value) || (Number.isInteger(value) && value < 1e6) : !/Boolean|String|Int32/.test(type);

// What was sent, and what comes back where the SDK has another form for it.
for (const [name, sent, answered = sent] of [
  ["Int32 least", edm.Int32(-2147483648), { _: -2147483648, $: "Edm.Int32" }],
  ["Int32 greatest", edm.Int32(2147483647), { _: 2147483647, $: "Edm.Int32" }],
  ["Int64 least", edm.Int64("-9223372036854775808")],
  ["Int64 greatest", edm.Int64("9223372036854775807")],
  ["Int64 small", edm.Int64(5), edm.Int64("5")],
  ["Boolean true", edm.Boolean(true)],
  ["Boolean false", edm.Boolean(false)],
  ["Double", edm.Double(1.5)],
  ["Double whole", edm.Double(5)],
  ["Double zero", edm.Double(0)],
  ["Double least", edm.Double(5e-324)],
  ["Double greatest", edm.Double(Number.MAX_VALUE)],
  ["Double NaN", edm.Double(NaN)],
  ["Double Infinity", edm.Double(Infinity)],
  ["Double -Infinity", edm.Double(-Infinity)],
  ["DateTime", edm.DateTime(new Date("2020-02-29T12:34:56.123Z"))],
  ["DateTime first", edm.DateTime(new Date("1601-01-01T00:00:00Z"))],
  ["DateTime last", edm.DateTime(new Date("9999-12-31T23:59:59.999Z"))],
  ["DateTime as text, ticks cut by the SDK", edm.DateTime("2020-02-29T12:34:56.1239999Z"), edm.DateTime(new Date("2020-02-29T12:34:56.123Z"))],
  ["Guid", edm.Guid(guid)],
  ["Guid in capitals", edm.Guid(guid.toUpperCase()), edm.Guid(guid)],
  ["Binary", edm.Binary(Buffer.from(Array.from({ length: 256 }, (_, i) => i)))],
  ["Binary empty", edm.Binary(Buffer.alloc(0))],
  ["Binary as base64", edm.Binary("AAECA//+"), edm.Binary(Buffer.from("AAECA//+", "base64"))],
  ["Binary largest", edm.Binary(Buffer.alloc(65536, 7))],
  ["String empty", edm.String("")],
  ["String blanks", edm.String("  x  ")],
  ["String control characters", edm.String("tab\t cr\r lf\n quote\" backslash\\ slash/ bell\x07")],
  ["String unicode", edm.String("Zażółć gęślą jaźń — 漢字 — عربى")],
  ["String emoji", edm.String("👩‍👩‍👧‍👦 🏳️‍🌈 \u{10FFFD}")],
  ["String like a date", edm.String("2020-02-29T12:34:56Z")],
  ["String largest", edm.String("漢".repeat(32768))],
]) {
  test(`InsertEntity: round trip of ${name}`, async () => {
    await service.insertEntity(table, keyed(name, { V: sent }));
    const { V } = await read(name);
    assert.deepEqual(V._, answered._);
    if (named(answered)) assert.equal(V.$, answered.$);
  });
}

test("GetEntity: types by the look of the values", async () => {
  await service.insertEntity(table, keyed("auto", { S: edm.String("x"), B: edm.Boolean(true), D: edm.Double(5) }));
  const { S, B, D } = await read("auto", { autoResolveProperties: true });
  assert.deepEqual([S, B, D], [edm.String("x"), edm.Boolean(true), edm.Double(5)]);
});

test("InsertEntity: null and undefined are not stored", async () => {
  await service.insertEntity(table, keyed("null", { A: edm.String(null), B: undefined, C: edm.Int32(1) }));
  assert.deepEqual(own(await read("null")), { C: 1 });
});

test("InsertEntity: names of properties", async () => {
  const names = ["çñ", "Имя", "漢字", "_private", "Birthday", "birthday", "n".repeat(255)];
  await service.insertEntity(table, keyed("names", Object.fromEntries(names.map((name) => [name, edm.String(name)]))));
  assert.deepEqual(own(await read("names")), Object.fromEntries(names.map((name) => [name, name])));
});

const many = (count, value) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`P${i}`, value]));

test("InsertEntity: as many and as large as allowed", async () => {
  await service.insertEntity(table, keyed("252 properties", many(252, edm.Int32(1))));
  await service.insertEntity(table, keyed("just below 1 MiB", many(15, edm.String("x".repeat(32768)))));
  assert.equal(Object.keys(own(await read("252 properties"))).length, 252);
});

for (const [why, properties, status, code] of [
  ["a String of 32769 characters", { A: edm.String("x".repeat(32769)) }, 400, "PropertyValueTooLarge"],
  ["a Binary of 65537 bytes", { A: edm.Binary(Buffer.alloc(65537)) }, 400, "PropertyValueTooLarge"],
  ["253 properties", many(253, edm.Int32(1)), 400, "TooManyProperties"],
  ["above 1 MiB", many(16, edm.String("x".repeat(32768))), 400, "EntityTooLarge"],
  ["a name of 256 characters", { ["n".repeat(256)]: edm.Int32(1) }, 400, "PropertyNameTooLong"],
  ["a name with a dash", { "a-b": edm.Int32(1) }, 400, "PropertyNameInvalid"],
  ["a date before 1601", { A: edm.DateTime(new Date("1600-12-31T23:59:59Z")) }, 400, "OutOfRangeInput"],
  ["a Guid that is none", { A: edm.Guid("none") }, 400, "InvalidInput"],
  ["an Int64 out of range", { A: edm.Int64("9223372036854775808") }, 400, "InvalidInput"],
  ["an Int32 that is none", { A: edm.Int32("seven") }, 400, "InvalidInput"],
]) {
  test(`Errors: an entity is refused for ${why}`, async () => {
    await refused(status, code, () => service.insertEntity(table, keyed(why, properties)));
    await refused(404, "ResourceNotFound", () => read(why));
  });
}
