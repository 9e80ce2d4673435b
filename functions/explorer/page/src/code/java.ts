import type { Asked } from "./asked.ts"
import { lines, quote as whole } from "./quote.ts"

/** quote leaves ASCII alone: Java 17 reads a source in the encoding of the system. */
const quote = (s: string) => whole(s).replace(/[^\u0000-\u007f]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"))

export const java = ({ table, filter, select }: Asked) =>
  lines(
    "// com.azure:azure-data-tables",
    "import com.azure.core.util.Context;",
    "import com.azure.data.tables.*;",
    "import com.azure.data.tables.models.*;",
    "import java.util.List;",
    "",
    "public class Query {",
    "    public static void main(String[] args) {",
    "        TableClient table = new TableClientBuilder()",
    '            .connectionString(System.getenv("EDGETABLE_CONNECTION_STRING"))',
    `            .tableName(${quote(table)})`,
    "            .buildClient();",
    "        ListEntitiesOptions options = new ListEntitiesOptions();",
    filter !== "" && `        options.setFilter(${quote(filter)});`,
    select.length > 0 && `        options.setSelect(List.of(${select.map(quote).join(", ")}));`,
    "        for (TableEntity entity : table.listEntities(options, null, Context.NONE)) {",
    "            System.out.println(entity.getProperties());",
    "        }",
    "    }",
    "}",
  )
