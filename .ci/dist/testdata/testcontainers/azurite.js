// Starts the image with the module for Azurite, which is told the name of the image alone, and writes and reads an entity.
import { TableClient } from "@azure/data-tables"
import { AzuriteContainer } from "@testcontainers/azurite"

const image = process.env.IMAGE
const account = Buffer.from("test-key").toString("base64")
const forms = {
  plain: new AzuriteContainer(image),
  memory: new AzuriteContainer(image).withInMemoryPersistence().withSkipApiVersionCheck(),
  account: new AzuriteContainer(image).withAccountName("test-account").withAccountKey(account),
  tls: new AzuriteContainer(image).withEntrypoint(["azurite", "--cert", "/cert.pem", "--key", "/key.pem"])
    .withCopyFilesToContainer([{ source: process.env.CERT, target: "/cert.pem" }, { source: process.env.KEY, target: "/key.pem" }]),
}
for (const [name, form] of Object.entries(forms)) {
  const container = await form.start()
  const secret = name === "tls"
  const connection = secret ? container.getConnectionString().replaceAll("http:", "https:").replace("Protocol=http;", "Protocol=https;") : container.getConnectionString()
  const people = TableClient.fromConnectionString(connection, "People", { allowInsecureConnection: !secret })
  await people.createTable()
  await people.createEntity({ partitionKey: "a", rowKey: "1", name: "Ada" })
  if ((await people.getEntity("a", "1")).name !== "Ada") throw new Error(name)
  console.log(name)
  await container.stop()
}
