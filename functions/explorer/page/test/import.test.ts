import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import test from "node:test"
import { type Plan, beginOf, planOf, rowsOf } from "../src/exchange/plan.ts"
import { suggest } from "../src/exchange/suggest.ts"
import { parseEntity } from "../src/wire/json.ts"
import type { Type, Value } from "../src/wire/value.ts"

const folder = "../../../testdata/import/"
interface Case {
  file: string
  partitionKey?: string
  rowKey?: string
  types?: Record<string, Type>
}
interface Expected {
  file: string
  entities?: object[]
  refused?: number[]
  dropped?: number
  fails?: boolean
}

const cases = JSON.parse(readFileSync(folder + "cases.json", "utf8")) as Case[]
const expectedText = readFileSync(folder + "expected.json", "utf8")
const expected = JSON.parse(expectedText) as Expected[]
/** entities in the text, whose numbers keep their digits */
const written = [...expectedText.matchAll(/^ {6}(\{[^]*?^ {6}\})/gm)].map((m) => parseEntity(m[1]!).values)

/** same writes values in one form: a Double has many, and properties have no order. */
const same = (values: Map<string, Value>) =>
  Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { type, text }]) => [name, `${type} ${type === "Double" ? String(Number(text)) : text}`]))

for (const [i, c] of cases.entries()) {
  const want = expected[i]!
  const entities = written.splice(0, want.entities?.length ?? 0)
  test(`${c.file} ${c.partitionKey ?? ""} is imported as the command does it`, async () => {
    const file = new Blob([readFileSync(folder + c.file)])
    const plan: Plan = planOf(await beginOf(file), c.file)
    const key = (template: string | undefined) => (template?.startsWith("=") ? { from: "", text: template.slice(1) } : template === "{row}" ? { from: "", text: "" } : { from: template, text: "" })
    const [pk, rk] = [key(c.partitionKey), key(c.rowKey)]
    if (pk.from !== undefined) Object.assign(plan, { pk: pk.from, pkText: pk.text })
    if (rk.from !== undefined) Object.assign(plan, { rk: rk.from })
    if (c.file === "nokey.csv") Object.assign(plan, { pk: "PartitionKey", rk: "RowKey" }) // the page asks for them, the command does not
    for (const column of plan.columns) column.type = c.types?.[column.name] ?? column.type
    const found = new Map<string, Map<string, Value>>()
    const refused: number[] = []
    let dropped = 0
    const read = async () => {
      for await (const row of rowsOf(file, plan)) {
        if (!row.values) {
          refused.push(row.line)
          continue
        }
        const name = JSON.stringify(["PartitionKey", "RowKey"].map((k) => row.values!.get(k)!.text))
        if (found.has(name)) dropped++
        found.set(name, row.values)
      }
    }
    if (want.fails) return assert.rejects(read)
    await read()
    const list = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, values]) => same(values))
    const inOrder = entities.map((v) => [JSON.stringify(["PartitionKey", "RowKey"].map((k) => v.get(k)!.text)), same(v)] as const).sort(([a], [b]) => (a < b ? -1 : 1))
    assert.deepEqual(list, inOrder.map(([, v]) => v))
    assert.deepEqual(refused, want.refused ?? [])
    assert.equal(dropped, want.dropped ?? 0)
  })
}

test("types are suggested for values that all look so", () => {
  const of = (...cells: (string | undefined)[]) => suggest(cells)?.type
  assert.equal(of("1815", undefined, "-3"), "Int32")
  assert.equal(of("1815", "2147483648"), "Int64")
  assert.equal(of("1.5", "2"), "Double")
  assert.equal(of("True", "false"), "Boolean")
  assert.equal(of("2026-01-02T03:04:05Z"), "DateTime")
  assert.equal(of("c9da6455-213d-42c9-9a79-3e9149a57833"), "Guid")
  assert.equal(of("00501"), undefined)
  assert.equal(of("", "1"), undefined)
  assert.equal(of(undefined), undefined)
  assert.deepEqual(suggest(["1", "1", "2", "3", "4"])?.sample, ["1", "2", "3"])
})
