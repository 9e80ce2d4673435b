const { TableClient } = require("@azure/data-tables")

test("a test uses the server of the global setup", async () => {
  const client = TableClient.fromConnectionString(process.env.EDGETABLE_CONNECTION_STRING, "People", { allowInsecureConnection: true })
  await client.createTable()
  await client.createEntity({ partitionKey: "a", rowKey: "1", name: "Ada" })
  expect((await client.getEntity("a", "1")).name).toBe("Ada")
})
