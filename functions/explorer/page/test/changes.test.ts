import assert from "node:assert/strict"
import test from "node:test"
import { changes, perform } from "../src/model/changes.ts"
import { parseEntity } from "../src/wire/json.ts"
import { served } from "./served.ts"

test("a paste that is stopped while a batch is written begins no further batch", async () => {
  const list = Array.from({ length: 150 }, (_, i) => ({ before: undefined, after: parseEntity(`{"PartitionKey":"p","RowKey":"${i}"}`) }))
  let requests = 0
  await served(
    (_, response, request) => {
      let written = 0
      request.on("data", (part: Buffer) => (written += part.toString().split(" HTTP/1.1").length - 1))
      request.on("end", () => {
        if (++requests === 1) return void response.writeHead(503, { "retry-after": "0" }).end()
        changes.value.failure?.stop?.()
        response.writeHead(202).end(`HTTP/1.1 204 No Content\r\netag: x\r\n\r\n`.repeat(written))
      })
    },
    async (service) => assert.equal(await perform(service, "people", list, () => {}), false),
  )
  assert.deepEqual([requests, changes.value.done.at(-1)?.changes.length], [2, 100])
})
