// dotnet add package Azure.Data.Tables
using System;
using System.Linq;
using Azure.Data.Tables;

var table = new TableClient(Environment.GetEnvironmentVariable("EDGETABLE_CONNECTION_STRING"), "ExplorerCode");
await foreach (var entity in table.QueryAsync<TableEntity>(filter: "PartitionKey eq 'p' and (RowKey ge 'a' and RowKey lt 'b') and Name eq 'O''Hara \"x\" \\ é\t$'", select: new[] { "RowKey", "Name" }))
{
    Console.WriteLine(string.Join(", ", entity.Select(p => $"{p.Key}={p.Value}")));
}
