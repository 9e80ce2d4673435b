import assert from "node:assert/strict"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import test from "node:test"
import { Rows } from "../src/model/rows.ts"
import type { Service } from "../src/wire/client.ts"

test("a row that cannot be read is told, and the others are shown", async () => {
  const good = (rk: string) => `{"PartitionKey":"p","RowKey":"${rk}","A":1}`
  const strange = '{"PartitionKey":"p","RowKey":"2","A@odata.type":"Edm.Strange","A":"x"}'
  for (const list of [[good("1"), strange, good("3")], [...Array.from({ length: 20 }, (_, i) => good(String(i))), strange]]) {
    const service = createServer((_, response) => response.end(`{"value":[${list.join(",")}]}`))
    await new Promise<void>((ready) => service.listen(0, "127.0.0.1", ready))
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const home: Service = {
      name: "x", account: "x", endpoint: url, readOnly: false, color: "", sign: undefined, about: undefined, local: false, orders: true,
      prepare: async (path) => ({ url: `${url}/${path}`, headers: {} }),
    }
    try {
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
    } finally {
      service.close()
    }
  }
})
