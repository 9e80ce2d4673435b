import type { Asked } from "./asked.ts"
import { lines, quote } from "./quote.ts"

export const csharp = ({ table, filter, select }: Asked) => {
  const options = [filter && `filter: ${quote(filter)}`, select.length && `select: new[] { ${select.map(quote).join(", ")} }`].filter(Boolean).join(", ")
  return lines(
    "// dotnet add package Azure.Data.Tables",
    "using System;",
    "using System.Linq;",
    "using Azure.Data.Tables;",
    "",
    `var table = new TableClient(Environment.GetEnvironmentVariable("EDGETABLE_CONNECTION_STRING"), ${quote(table)});`,
    `await foreach (var entity in table.QueryAsync<TableEntity>(${options}))`,
    "{",
    '    Console.WriteLine(string.Join(", ", entity.Select(p => $"{p.Key}={p.Value}")));',
    "}",
  )
}
