import assert from "node:assert/strict"
import test from "node:test"
import { batches } from "../src/model/bulk.ts"
import { changed, compare, drafts, editing, fresh, leftOf, merged, placeOf, problemOf, valuesOf } from "../src/model/draft.ts"
import type { Service } from "../src/wire/client.ts"
import { print, read } from "../src/wire/batch.ts"
import { parseEntity, pretty } from "../src/wire/json.ts"
import { line } from "../src/model/copy.ts"
import { arrange, move, shown } from "../src/model/columns.ts"

const base = parseEntity('{"odata.etag":"1","PartitionKey":"p","RowKey":"r","Timestamp":"2026-01-01T00:00:00Z","a":1,"b":"x","c":true,"d":""}')

test("empty text and no value are different", () => {
  const d = editing(base)
  assert.equal(changed(d), false)
  d.fields.find((f) => f.name === "d")!.removed = true
  assert.equal(changed(d), true)
  assert.equal(valuesOf(d).has("d"), false)
  assert.equal(valuesOf(editing(base)).get("d")?.text, "")
})

test("fields are checked", () => {
  const d = fresh(base)
  d.fields.push({ name: "a", value: { type: "Int32", text: "1" }, removed: false, added: true })
  assert.match(problemOf(d, d.fields.at(-1)!), /twice/)
  d.fields[0]!.value = { type: "String", text: "a/b" }
  assert.match(problemOf(d, d.fields[0]!), /key/)
})

test("two versions merge property by property", () => {
  const theirs = parseEntity('{"odata.etag":"2","PartitionKey":"p","RowKey":"r","a":2,"b":"theirs","d":"","e":"new"}')
  const mine = new Map(base.values)
  mine.set("b", { type: "String", text: "mine" })
  mine.set("d", { type: "String", text: "mine" })
  const list = compare(base, mine, theirs)
  assert.deepEqual(list.map((d) => [d.name, d.conflict, d.take]), [["a", false, "theirs"], ["b", true, "mine"], ["c", false, "theirs"], ["d", false, "mine"], ["e", false, "theirs"]])
  const values = merged(theirs, list)
  assert.deepEqual(["a", "b", "c", "d", "e"].map((n) => values.get(n)?.text), ["2", "mine", undefined, "mine", "new"])
})

test("batches end with the partition, at 100 and at 4 MiB", () => {
  const make = (pk: string, n: number, body = "") => Array.from({ length: n }, (_, i) => ({ method: "PUT" as const, key: { pk, rk: String(i) }, body }))
  assert.deepEqual(batches([...make("a", 250), ...make("b", 1)]).map((b) => b.length), [100, 100, 50, 1])
  assert.ok(batches(make("a", 100, "x".repeat(60_000))).every((b) => b.length <= 19))
})

test("a batch names the operation that was refused", () => {
  const text = print("http://h/acme", "T", [{ method: "DELETE", key: { pk: "p", rk: "é'" }, etag: "W/\"1\"" }])
  assert.match(text, /\r\nDELETE http:\/\/h\/acme\/T\(PartitionKey=%27p%27,RowKey=%27%C3%A9%27%27%27\) HTTP\/1\.1\r\n/)
  assert.match(text, /\r\nIf-Match: W\/"1"\r\n/)
  const refused = read('--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 412 Precondition Failed\r\nContent-Type: application/json\r\n\r\n{"odata.error":{"code":"UpdateConditionNotSatisfied","message":{"value":"2:no"}}}\r\n--c--\r\n--b--')
  assert.deepEqual([refused?.status, refused?.index], [412, 2])
  assert.equal(read("--b\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--b--"), undefined)
  assert.equal(read("")?.code, "Cut")
})

test("copies quote what spreadsheets would cut", () => {
  assert.equal(line(["a\tb", 'say "x"', undefined]), '"a\tb"\t"say ""x"""\t')
})

test("keys come first, then what the user ordered, then the rest as it came, and Timestamp", () => {
  const names = ["z", "RowKey", "Timestamp", "a", "PartitionKey"]
  const none = { order: [], hidden: [], widths: {} }
  assert.deepEqual(arrange(names, none), ["PartitionKey", "RowKey", "z", "a", "Timestamp"])
  const c = move(arrange(names, none), "a", "z", none)
  assert.deepEqual(shown(names, { ...c, hidden: ["z"] }), ["PartitionKey", "RowKey", "a", "Timestamp"])
})

test("a form that is left belongs to the table of one endpoint", () => {
  const [here, there] = ["https://a.example", "https://b.example"].map((endpoint) => ({ name: "acme", endpoint }) as Service)
  const place = placeOf(here!, "t", base)
  const d = editing(base)
  drafts.set(place, d)
  assert.equal(leftOf(here!, "t"), undefined)
  drafts.set(place, { ...d, json: pretty(valuesOf(d)) })
  assert.equal(leftOf(here!, "t"), undefined, "the form is shown as JSON, and nothing is typed")
  drafts.set(place, { ...d, json: "{" })
  assert.equal(leftOf(here!, "t")?.place, place)
  assert.equal(leftOf(there!, "t"), undefined)
  assert.equal(leftOf(here!, "t2"), undefined)
  drafts.clear()
})
