import assert from "node:assert/strict"
import test from "node:test"
import { stamped } from "../src/model/changes.ts"
import { printJSON, readJSON } from "../src/model/jsontext.ts"
import { type Range, cellsOf, keysIn, named, preview } from "../src/model/paste.ts"
import { parseEntity } from "../src/wire/json.ts"
import { most, placesOf } from "../src/model/places.ts"
import { roomAfter } from "../src/ui/fit.ts"
import type { Type } from "../src/wire/value.ts"

const ada = parseEntity('{"odata.etag":"1","PartitionKey":"p","RowKey":"r","Born":1815,"Note":"","Name":"Ada"}')

test("a clipboard has the cells of a spreadsheet", () => {
  assert.deepEqual(cellsOf('a\tb\r\n"c\n""d"""\t\r\n'), [["a", "b"], ['c\n"d"', ""]])
  assert.deepEqual(cellsOf("5"), [["5"]])
  assert.ok(named([["RowKey", "PartitionKey"], ["1", "2"]]))
  assert.deepEqual(keysIn([["RowKey", "PartitionKey"], ["1", "2"]]), [{ pk: "2", rk: "1" }])
})

test("a preview says what is written, and what cannot be", () => {
  const types: Record<string, Type> = { Born: "Int32", Late: "DateTime" }
  const paste = (names: string[], cells: string[], before: Range["rows"][number]["before"] | null = ada) =>
    preview({ names, rows: [{ key: { pk: "p", rk: "r" }, before: before ?? undefined, cells }], left: "" }, (n) => types[n] ?? "String")
  const p = paste(["Born", "Name", "Note", "Late"], ["1816", "", "", "2026-01-02 03:04"])
  assert.deepEqual(p.rows[0]!.cells.map((c) => c && [c.old?.text, c.new?.text]), [["1815", "1816"], ["Ada", undefined], undefined, [undefined, "2026-01-02T03:04:00Z"]])
  assert.equal(p.cells, 3)
  assert.deepEqual(p.wrong, [])
  assert.deepEqual([...p.changes[0]!.after!.values.keys()], ["PartitionKey", "RowKey", "Born", "Note", "Late"])
  assert.deepEqual(paste(["Born"], ["x"]).wrong, ["p / r: Born: an Int32 has only digits"])
  assert.deepEqual(paste(["RowKey"], ["s"]).wrong, ["p / r: RowKey: the keys of an entity cannot change"])
  assert.equal(paste(["Born", "Name"], ["1815", "Ada"]).changes.length, 0)
  const notes = parseEntity('{"odata.etag":"1","PartitionKey":"p","RowKey":"r","Note":"a\\r\\nb\\nc"}')
  const back = (typed: string, foreign: boolean) => preview({ names: ["Note"], rows: [{ key: { pk: "p", rk: "r" }, before: notes, cells: [typed] }], left: "", foreign }, () => "String").rows[0]?.cells[0]?.new?.text
  assert.deepEqual([back("a\nb\nc", true), back("a\nb\nC", true), back("a\nb\nc", false), back("a\r\nb\nc", false)], [undefined, "a\r\nb\nC", "a\nb\nc", undefined])
  const fresh = paste(["PartitionKey", "RowKey", "Name"], ["p", "r", "New"], null)
  assert.deepEqual([fresh.cells, fresh.rows[0]!.fresh, fresh.changes[0]!.after!.values.get("RowKey")?.text], [1, true, "r"])
})

test("an ETag tells the Timestamp of what was written", () => {
  assert.equal(stamped(ada, `W/"datetime'2026-03-04T05%3A06%3A07.1234567Z'"`).values.get("Timestamp")?.text, "2026-03-04T05:06:07.1234567Z")
})

test("JSON in a text keeps its digits and is refused where it is none", () => {
  const text = '{"a":9007199254740993,"b":[1.0,true,null,{}],"é\\n":"\\u00e9","a":2}'
  assert.equal(printJSON(readJSON(text)!, false), text)
  assert.equal(printJSON(readJSON(printJSON(readJSON(text)!, true))!, false), text)
  for (const none of ["", "5", '"a"', "{", "[1,]", '{"a" 1}', "{a:1}", "[1] 2", '["\\x"]', "[01]", "[".repeat(300) + "]".repeat(300)]) assert.equal(readJSON(none), undefined, none)
})

test("the points of Doubles stand below each other, and nothing is cut for it", () => {
  assert.deepEqual(["-12.25", "7", "1e+300", "NaN", "-Infinity"].map(placesOf), [{ before: 3, after: 2 }, { before: 1, after: 0 }, undefined, undefined, undefined])
  const places = ["-12.25", "7", "0.125"].map(placesOf).reduce(most)
  assert.deepEqual(places, { before: 3, after: 3 })
  const ends = ["-12.25", "7.0", "0.125"].map((text) => roomAfter(text, 3, 200) / 7.8)
  assert.deepEqual(ends.map(Math.round), [1, 2, 0])
  assert.ok(roomAfter("7", 3, 200) > roomAfter("7.0", 3, 200))
  assert.equal(roomAfter("123456.5", 17, 24 + 9 * 7.8), 7) // not more than the column has
  assert.equal(roomAfter("123456.5", 17, 40), 0)
})
