package tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static tests.Clients.conditional;
import static tests.Clients.entity;
import static tests.Clients.names;
import static tests.Clients.read;
import static tests.Clients.refused;
import static tests.Clients.rows;

import com.microsoft.azure.storage.StorageException;
import com.microsoft.azure.storage.table.CloudTable;
import com.microsoft.azure.storage.table.DynamicTableEntity;
import com.microsoft.azure.storage.table.TableBatchOperation;
import com.microsoft.azure.storage.table.TableOperation;
import com.microsoft.azure.storage.table.TableResult;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class BatchesTest {
  @RegisterExtension final Tables tables = new Tables();

  /** The libraries send a merge as the verb MERGE with the header X-HTTP-Method. */
  @Test
  @DisplayName("EntityGroupTransaction: each operation")
  void each() throws Exception {
    CloudTable table = tables.create();
    for (String row : List.of("replace", "merge", "upsert", "upmerge", "delete")) {
      table.execute(TableOperation.insert(entity(row, "A", 1)));
    }
    TableBatchOperation batch = new TableBatchOperation();
    batch.insert(entity("insert", "B", 2));
    batch.insert(entity("echo", "B", 2), true);
    batch.replace(conditional(entity("replace", "B", 2), "*"));
    batch.merge(conditional(entity("merge", "B", 2), "*"));
    batch.insertOrReplace(entity("upsert", "B", 2));
    batch.insertOrMerge(entity("upmerge", "B", 2));
    batch.delete(conditional(entity("delete"), "*"));
    List<TableResult> results = table.execute(batch);
    assertEquals(List.of(204, 201, 204, 204, 204, 204, 204), results.stream().map(TableResult::getHttpStatusCode).toList());
    assertEquals(List.of("echo", "insert", "merge", "replace", "upmerge", "upsert"), rows(table));
    assertEquals(List.of("A", "B"), names(read(table, "merge")));
    assertEquals(List.of("A", "B"), names(read(table, "upmerge")));
    assertEquals(List.of("B"), names(read(table, "replace")));
    assertEquals(List.of("B"), names(read(table, "upsert")));
    assertEquals(read(table, "merge").getEtag(), results.get(3).getEtag());
  }

  @Test
  @DisplayName("EntityGroupTransaction: one point read")
  void retrieve() throws Exception {
    CloudTable table = tables.create();
    table.execute(TableOperation.insert(entity("r", "A", 1)));
    TableBatchOperation batch = new TableBatchOperation();
    batch.retrieve("p", "r", DynamicTableEntity.class);
    TableResult result = table.execute(batch).get(0);
    DynamicTableEntity read = result.getResultAsType();
    assertNotNull(read);
    assertEquals(List.of("A"), names(read));
  }

  @Test
  @DisplayName("EntityGroupTransaction: a hundred operations")
  void hundred() throws Exception {
    CloudTable table = tables.create();
    TableBatchOperation batch = new TableBatchOperation();
    for (int n = 0; n < 100; n++) {
      batch.insertOrMerge(entity("%02d".formatted(n)));
    }
    assertEquals(100, table.execute(batch).size());
    assertEquals(100, rows(table).size());
  }

  /** Asserts that the second operation is what a batch fails at, and that nothing of it is stored. */
  private static void rolledBack(int status, String code, CloudTable table, TableOperation second)
      throws StorageException {
    TableBatchOperation batch = new TableBatchOperation();
    batch.insert(entity("new"));
    batch.add(second);
    StorageException failure = refused(status, code, () -> table.execute(batch));
    String message = failure.getExtendedErrorInformation().getErrorMessage();
    assertTrue(message.startsWith("1:"), message);
    assertEquals(List.of("there"), rows(table));
  }

  @Test
  @DisplayName("EntityGroupTransaction: all or nothing")
  void nothing() throws Exception {
    CloudTable table = tables.create();
    String stale = table.execute(TableOperation.insert(entity("there"))).getEtag();
    table.execute(TableOperation.insertOrReplace(entity("there")));
    rolledBack(409, "EntityAlreadyExists", table, TableOperation.insert(entity("there")));
    rolledBack(404, "ResourceNotFound", table, TableOperation.merge(conditional(entity("missing"), "*")));
    rolledBack(412, "UpdateConditionNotSatisfied", table, TableOperation.merge(conditional(entity("there"), stale)));
    rolledBack(412, "UpdateConditionNotSatisfied", table, TableOperation.replace(conditional(entity("there"), stale)));
    rolledBack(412, "UpdateConditionNotSatisfied", table, TableOperation.delete(conditional(entity("there"), stale)));
  }

  @Test
  @DisplayName("EntityGroupTransaction: a table that is not there")
  void missing() {
    TableBatchOperation batch = new TableBatchOperation();
    batch.insert(entity("r"));
    refused(404, "TableNotFound", () -> Clients.missing().execute(batch));
  }
}
