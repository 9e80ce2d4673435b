# pip install azure-data-tables
import os

from azure.data.tables import TableClient

table = TableClient.from_connection_string(os.environ["EDGETABLE_CONNECTION_STRING"], "ExplorerCode")
for entity in table.query_entities("PartitionKey eq 'p' and (RowKey ge 'a' and RowKey lt 'b') and Name eq 'O''Hara \"x\" \\ é\t$'", select=["RowKey", "Name"]):
    print(entity)
