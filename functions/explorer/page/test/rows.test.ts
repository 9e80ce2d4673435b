import assert from "node:assert/strict"
import type { ServerResponse } from "node:http"
import test from "node:test"
import { Rows } from "../src/model/rows.ts"
import { sorted } from "../src/model/sort.ts"
import { served } from "./served.ts"

/** pages answers with pages of 100 rows, in which N falls while the keys rise. */
function pages(rows: number, url: URL, response: ServerResponse) {
  const from = Number(url.searchParams.get("NextPartitionKey") ?? 0)
  const list = Array.from({ length: Math.min(100, rows - from) }, (_, i) => `{"PartitionKey":"p","RowKey":"${from + i}","N":${rows - from - i},"Text":"${"x".repeat(100)}"}`)
  if (from + 100 < rows) response.setHeader("x-ms-continuation-NextPartitionKey", String(from + 100))
  response.end(`{"value":[${list.join(",")}]}`)
}

const none = new AbortController().signal

test("rows whose pages were dropped are read and sorted like others", () =>
  served((url, response) => pages(1000, url, response), async (service) => {
    const rows = new Rows(service, { table: "People", filter: "" }, 40_000) // not even three pages
    await rows.load(true)
    assert.equal(rows.length, 1000)
    const keys = () => rows.collect(0, 999, none, (e) => Number(e.values.get("RowKey")!.text))
    assert.deepEqual(await keys(), [...Array(1000).keys()])
    rows.order = await sorted(rows, "N", none)
    assert.deepEqual(await keys(), [...Array(1000).keys()].reverse())
    rows.order = undefined
    rows.edit(3, null)
    assert.equal((await keys()).length, 999)
    assert.equal((await rows.collect(2, 4, none, (_, place) => place)).join(), "2,4")
  }))

test("all is loaded although the service is busy meanwhile, and the page says so", async () => {
  let asked = 0
  await served(
    (url, response) => {
      if (asked++ % 2 === 0) return pages(500, url, response)
      response.writeHead(503, { "retry-after": "0", "x-ms-error-code": "ServerBusy" }).end()
    },
    async (service) => {
      const rows = new Rows(service, { table: "People", filter: "" })
      const said = new Set<string>()
      rows.progress.subscribe(() => said.add(rows.progress.value.waiting))
      await rows.load(true)
      assert.equal(rows.length, 500)
      assert.equal(rows.progress.value.done, true)
      assert.equal(rows.progress.value.failure, undefined)
      assert.deepEqual([...said].filter(Boolean), ["The server is busy. Trying again in 0 s."])
      assert.equal(rows.progress.value.waiting, "")
    },
  )
})

test("an entity that was added and edited stays itself when more rows come", () =>
  served((url, response) => pages(200, url, response), async (service) => {
    const rows = new Rows(service, { table: "People", filter: "" })
    await rows.load()
    const text = (rk: string) => ({ etag: "", values: new Map([["RowKey", { type: "String" as const, text: rk }]]) })
    rows.add(text("new"))
    rows.edit(rows.indexOf(100), text("newer"))
    await rows.load()
    assert.equal(rows.at(100)?.values.get("RowKey")?.text, "100")
    assert.equal(rows.at(200)?.values.get("RowKey")?.text, "newer")
  }))

test("a row that cannot be read is told, and the others are shown", async () => {
  const good = (rk: string) => `{"PartitionKey":"p","RowKey":"${rk}","A":1}`
  const strange = '{"PartitionKey":"p","RowKey":"2","A@odata.type":"Edm.Strange","A":"x"}'
  for (const list of [[good("1"), strange, good("3")], [...Array.from({ length: 20 }, (_, i) => good(String(i))), strange]]) {
    await served((_, response) => response.end(`{"value":[${list.join(",")}]}`), async (home) => {
      const rows = new Rows(home, { table: "People", filter: "", select: "", top: 0 } as unknown as ConstructorParameters<typeof Rows>[1])
      await rows.load()
      const bad = list.indexOf(strange)
      for (let i = 0; i < list.length; i++) {
        const row = rows.at(i)
        if (i === bad) assert.equal(row, undefined)
        else assert.equal(row?.values.get("A")?.text, "1")
      }
      await Promise.resolve() // the failure is told after the rows are drawn
      assert.match(rows.progress.value.failure?.message ?? "", new RegExp(`^Row ${bad + 1} cannot be read: there is no type Edm\\.Strange;`))
      assert.equal(rows.progress.value.failure?.transient, false)
      assert.equal(rows.progress.value.loading, false)
    })
  }
})
