import type { Asked } from "./asked.ts"
import { lines, quote } from "./quote.ts"

export const javascript = ({ table, filter, select }: Asked) => {
  const options = [filter && `filter: ${quote(filter)}`, select.length && `select: [${select.map(quote).join(", ")}]`].filter(Boolean).join(", ")
  return lines(
    "// npm install @azure/data-tables",
    'import { TableClient } from "@azure/data-tables"',
    "",
    "const connection = process.env.EDGETABLE_CONNECTION_STRING",
    `const table = TableClient.fromConnectionString(connection, ${quote(table)}, { allowInsecureConnection: connection.includes("http:") })`,
    `for await (const entity of table.listEntities(${options && `{ queryOptions: { ${options} } }`})) {`,
    "  console.log(entity)",
    "}",
  )
}
