// npm install @azure/data-tables
import { TableClient } from "@azure/data-tables"

const connection = process.env.EDGETABLE_CONNECTION_STRING
const table = TableClient.fromConnectionString(connection, "ExplorerCode", { allowInsecureConnection: connection.includes("http:") })
for await (const entity of table.listEntities({ queryOptions: { filter: "PartitionKey eq 'p' and (RowKey ge 'a' and RowKey lt 'b') and Name eq 'O''Hara \"x\" \\ é\t$'", select: ["RowKey", "Name"] } })) {
  console.log(entity)
}
