import { TableClient } from "@azure/data-tables"
import { start } from "edgetable"
import { expect, inject, test } from "vitest"

async function people(connectionString) {
  const client = TableClient.fromConnectionString(connectionString, "People", { allowInsecureConnection: true })
  await client.createTable()
  return client
}

test("a test uses the server of the global setup", async () => {
  expect(inject("edgetable").connectionString).toBe(process.env.EDGETABLE_CONNECTION_STRING)
  const client = await people(process.env.EDGETABLE_CONNECTION_STRING)
  await client.createEntity({ partitionKey: "a", rowKey: "1", name: "Ada" })
  expect((await client.getEntity("a", "1")).name).toBe("Ada")
})

test("a test has a server and accounts of its own", async () => {
  const server = await start()
  for (const account of [server, server.account()]) await people(account.connectionString)
  await server.stop()
  await expect(fetch(server.url)).rejects.toThrow()
})
