import assert from "node:assert/strict"
import test from "node:test"
import { print, read } from "../src/query/builder.ts"
import { complete } from "../src/query/complete.ts"
import { parse } from "../src/query/parse.ts"
import { translate } from "../src/query/prefix.ts"
import { parseRoute, printRoute } from "../src/model/route.ts"
import { orderOf } from "../src/model/sort.ts"
import type { Type } from "../src/wire/value.ts"

test("filters of all types can be read", () => {
  for (const text of [
    "", "PartitionKey eq 'O''Hara'", "a eq 1 and b ne 2L or not (c lt 1.5e3)", "When ge datetime'2026-03-04T05:06:07.1234567Z'", "Id eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'",
    "Bin eq X'00ff' or Bin eq binary'00ff'", "Flag eq true and Flag", "5 lt Age", "Größe gt 3", "startswith(RowKey,'a') eq true", "contains(A,'x') and not endswith(B, 'y') or substringof('z',C) eq false", "not startswith(RowKey, 'a')",
  ]) assert.equal(parse(text).problem, undefined, text)
})

test("problems have their place and say what to do", () => {
  for (const [text, at, message] of [
    ["Age > 5", 4, /greater is gt/], ["Age eq", 6, /a value/], ["Age eq Bob", 7, /single quotes/], ["Age eq 'x", 7, /no closing quote/], ["(a eq 1", 0, /not closed/], ["a eq 1)", 6, /not opened/],
    ["a eq 1 b eq 2", 7, /and, or/], ["tolower(a)", 0, /startswith/], ["contains('x',a)", 9, /name of a property/], ["substringof('x',a", 17, /expected \)/], ["When gt datetime'2026'", 8, /DateTime/], ["a eq 99999999999999999999", 5, /Int64/], ["a eq 1 and", 10, /name of a property/],
  ] as const) {
    const { problem } = parse(text)
    assert.equal(problem?.at, at, text)
    assert.match(problem!.message, message)
  }
})

test("a search for a beginning is sent as a range; the rest stays as it was typed", () => {
  assert.equal(translate("a eq 1  and startswith(RowKey,'it''s')"), "a eq 1  and (RowKey ge 'it''s' and RowKey lt 'it''t')")
  assert.equal(translate("not startswith(A,'x') eq true or startswith(B, 'y')"), "not (A ge 'x' and A lt 'y') or (B ge 'y' and B lt 'z')")
  assert.equal(translate("a > 1"), "a > 1")
})

const columns = new Map<string, Set<Type>>([["PartitionKey", new Set(["String"])], ["Born", new Set(["Int32"])], ["Joined", new Set(["DateTime"])], ["Active", new Set(["Boolean"])]])
const at = (text: string) => complete(text, text.length, columns, new Date(86_400_000)).choices.map((c) => c.text.trim())

test("completions fit their place", () => {
  assert.ok(at("").includes("Born"))
  assert.deepEqual(at("bo"), ["Born"])
  assert.deepEqual(at("Born "), ["eq", "ne", "gt", "ge", "lt", "le"])
  assert.deepEqual(at("Active eq "), ["true", "false"])
  assert.ok(at("Joined gt ").includes("datetime'1970-01-01T00:00:00.000Z'"))
  assert.deepEqual(at("Born eq 5 "), ["and", "or"])
  assert.deepEqual(at("Born eq 5"), []) // the list would cover Run on a phone
  assert.deepEqual(at("(Born eq 5)"), [])
  assert.deepEqual(at("Born eq 5 an"), ["and"])
  assert.ok(at("Born eq 5 and Par").includes("PartitionKey"))
  assert.deepEqual(at("PartitionKey eq 'o"), [])
  assert.ok(at("startswith(Par").includes("PartitionKey,"))
})

test("the builder reads what it prints", () => {
  const text = "PartitionKey eq 'Oslo' and startswith(RowKey, 'a') and Followers gt 5L"
  assert.equal(print(read(text)!), text)
  assert.equal(read("a eq 1 and (b eq 2 or c eq 3)"), undefined)
  assert.equal(read("a eq"), undefined)
  assert.equal(read("a eq 1 or b eq 2")!.all, false)
})

test("the URL keeps every state", () => {
  const route = { service: "a/b", table: "People", filter: "a eq '&#?'", select: "A,B", sort: "-A", view: "traffic", metric: "reads", span: "quarters", access: "cors", entity: { pk: "", rk: "é/#" } }
  assert.deepEqual(parseRoute(printRoute(route)), route)
  assert.deepEqual(parseRoute("#token=x"), { service: "", table: "", filter: "", select: "", sort: "", view: "", metric: "", span: "", access: "" })
})

test("a sort by keys is an order that a service can load", () => {
  assert.equal(orderOf("-PartitionKey", "Born gt 5"), "PartitionKey desc, RowKey desc")
  assert.equal(orderOf("-RowKey", "Born gt 5 and PartitionKey eq 'a'"), "RowKey desc")
  assert.equal(orderOf("-RowKey", "PartitionKey eq 'a'"), "RowKey desc")
  for (const filter of ["", "Born gt 5", "PartitionKey eq 'a' or PartitionKey eq 'b'", "not (PartitionKey eq 'a')", "PartitionKey gt 'a'"]) assert.equal(orderOf("-RowKey", filter), undefined, filter)
  for (const sort of ["", "PartitionKey", "RowKey", "-Born", "-Timestamp"]) assert.equal(orderOf(sort, "PartitionKey eq 'a'"), undefined, sort)
})
