import type { Asked } from "./asked.ts"
import { lines, quote } from "./quote.ts"

export const python = ({ table, filter, select }: Asked) => {
  const chosen = select.length > 0 && `select=[${select.map(quote).join(", ")}]`
  return lines(
    "# pip install azure-data-tables",
    "import os",
    "",
    "from azure.data.tables import TableClient",
    "",
    `table = TableClient.from_connection_string(os.environ["EDGETABLE_CONNECTION_STRING"], ${quote(table)})`,
    filter ? `for entity in table.query_entities(${quote(filter)}${chosen ? ", " + chosen : ""}):` : `for entity in table.list_entities(${chosen || ""}):`,
    "    print(entity)",
  )
}
