package tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.microsoft.azure.storage.CloudStorageAccount;
import com.microsoft.azure.storage.StorageCredentialsSharedAccessSignature;
import com.microsoft.azure.storage.StorageException;
import com.microsoft.azure.storage.table.CloudTable;
import com.microsoft.azure.storage.table.CloudTableClient;
import com.microsoft.azure.storage.table.DynamicTableEntity;
import com.microsoft.azure.storage.table.EntityProperty;
import com.microsoft.azure.storage.table.TableOperation;
import com.microsoft.azure.storage.table.TableQuery;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.function.Executable;

/** Clients for the server under test, entities, and what a refusal looks like. */
final class Clients {
  static final String CONNECTION_STRING = System.getenv("EDGETABLE_CONNECTION_STRING");

  static {
    if (CONNECTION_STRING == null || CONNECTION_STRING.isEmpty()) {
      throw new IllegalStateException("EDGETABLE_CONNECTION_STRING is not set: these tests need a running server");
    }
  }

  static CloudTableClient service() throws Exception {
    return serviceOf(CONNECTION_STRING);
  }

  static CloudTableClient serviceOf(String connectionString) throws Exception {
    return Library.configured(CloudStorageAccount.parse(connectionString).createCloudTableClient());
  }

  /** The table for one who has nothing but a shared access signature. */
  static CloudTable signed(CloudTable table, String sas) throws Exception {
    CloudTableClient service =
        new CloudTableClient(service().getEndpoint(), new StorageCredentialsSharedAccessSignature(sas));
    return Library.configured(service).getTableReference(table.getName());
  }

  static CloudTable missing() throws Exception {
    return service().getTableReference("OldJava" + UUID.randomUUID().toString().replace("-", ""));
  }

  /** An entity of partition "p" with properties given as name, value, name, value … */
  static DynamicTableEntity entity(String row, Object... properties) {
    HashMap<String, EntityProperty> values = new HashMap<>();
    for (int i = 0; i < properties.length; i += 2) {
      Object value = properties[i + 1];
      values.put((String) properties[i], value instanceof Integer number ? new EntityProperty(number)
          : value instanceof EntityProperty property ? property : new EntityProperty((String) value));
    }
    return new DynamicTableEntity("p", row, values);
  }

  /** The entity under another condition. */
  static DynamicTableEntity conditional(DynamicTableEntity entity, String etag) {
    entity.setEtag(etag);
    return entity;
  }

  /** The entity, or null if it is not there. */
  static DynamicTableEntity read(CloudTable table, String row) throws StorageException {
    return table.execute(TableOperation.retrieve("p", row, DynamicTableEntity.class)).getResultAsType();
  }

  /** The names of an entity's own properties, sorted. */
  static List<String> names(DynamicTableEntity entity) {
    return entity.getProperties().keySet().stream().sorted().toList();
  }

  static TableQuery<DynamicTableEntity> where(String filter) {
    return TableQuery.from(DynamicTableEntity.class).where(filter);
  }

  static List<String> rows(Iterable<DynamicTableEntity> entities) {
    List<String> rows = new ArrayList<>();
    entities.forEach(entity -> rows.add(entity.getRowKey()));
    return rows;
  }

  static List<String> rows(CloudTable table) throws StorageException {
    return rows(table.execute(TableQuery.from(DynamicTableEntity.class)));
  }

  /** Asserts that the call is refused with this status and code. */
  static StorageException refused(int status, String code, Executable call) {
    StorageException failure = assertThrows(StorageException.class, call);
    assertEquals(status + " " + code, failure.getHttpStatusCode() + " " + failure.getErrorCode(), failure.getMessage());
    return failure;
  }

  private Clients() {}
}
