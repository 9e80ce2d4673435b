// com.azure:azure-data-tables
import com.azure.core.util.Context;
import com.azure.data.tables.*;
import com.azure.data.tables.models.*;
import java.util.List;

public class Query {
    public static void main(String[] args) {
        TableClient table = new TableClientBuilder()
            .connectionString(System.getenv("EDGETABLE_CONNECTION_STRING"))
            .tableName("ExplorerCode")
            .buildClient();
        ListEntitiesOptions options = new ListEntitiesOptions();
        options.setFilter("PartitionKey eq 'p' and (RowKey ge 'a' and RowKey lt 'b') and Name eq 'O''Hara \"x\" \\ \u00e9\t$'");
        options.setSelect(List.of("RowKey", "Name"));
        for (TableEntity entity : table.listEntities(options, null, Context.NONE)) {
            System.out.println(entity.getProperties());
        }
    }
}
