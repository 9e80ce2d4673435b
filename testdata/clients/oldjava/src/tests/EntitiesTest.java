package tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static tests.Clients.conditional;
import static tests.Clients.entity;
import static tests.Clients.names;
import static tests.Clients.read;
import static tests.Clients.refused;

import com.microsoft.azure.storage.table.CloudTable;
import com.microsoft.azure.storage.table.DynamicTableEntity;
import com.microsoft.azure.storage.table.EdmType;
import com.microsoft.azure.storage.table.EntityProperty;
import com.microsoft.azure.storage.table.TableOperation;
import com.microsoft.azure.storage.table.TableResult;
import com.microsoft.azure.storage.table.TableServiceEntity;
import java.util.Date;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EntitiesTest {
  private static final String UNKNOWN = "W/\"datetime'2012-06-15T22%3A51%3A44.9662825Z'\"";

  @RegisterExtension final Tables tables = new Tables();

  @Test
  @DisplayName("InsertEntity: every type")
  void types() throws Exception {
    CloudTable table = tables.create();
    Date when = new Date(1549166706789L);
    UUID guid = UUID.randomUUID();
    table.execute(TableOperation.insert(entity("types",
        "String", "<x> & 'y'", "Int32", 7, "Int64", new EntityProperty(1L << 40), "Double", new EntityProperty(1.5),
        "Bool", new EntityProperty(true), "When", new EntityProperty(when), "Guid", new EntityProperty(guid),
        "Binary", new EntityProperty(new byte[] {0, -1}))));
    DynamicTableEntity read = read(table, "types");
    Function<String, EntityProperty> property = name -> read.getProperties().get(name);
    assertEquals(List.of("Binary", "Bool", "Double", "Guid", "Int32", "Int64", "String", "When"), names(read));
    assertEquals("<x> & 'y'", property.apply("String").getValueAsString());
    assertEquals(7, property.apply("Int32").getValueAsInteger());
    assertEquals(1L << 40, property.apply("Int64").getValueAsLong());
    assertEquals(1.5, property.apply("Double").getValueAsDouble());
    assertEquals(true, property.apply("Bool").getValueAsBoolean());
    assertEquals(when, property.apply("When").getValueAsDate());
    assertEquals(guid, property.apply("Guid").getValueAsUUID());
    assertArrayEquals(new byte[] {0, -1}, property.apply("Binary").getValueAsByteArray());
    assertEquals(EdmType.INT64, property.apply("Int64").getEdmType());
  }

  /** An entity whose properties are those of a class. */
  public static class Person extends TableServiceEntity {
    private String name;
    private int born;

    public String getName() {
      return name;
    }

    public void setName(String name) {
      this.name = name;
    }

    public int getBorn() {
      return born;
    }

    public void setBorn(int born) {
      this.born = born;
    }
  }

  @Test
  @DisplayName("InsertEntity: of a class, with the entity as the answer")
  void echo() throws Exception {
    CloudTable table = tables.create();
    Person ada = new Person();
    ada.setPartitionKey("p");
    ada.setRowKey("ada");
    ada.setName("Ada");
    ada.setBorn(1815);
    TableResult inserted = table.execute(TableOperation.insert(ada, true));
    assertEquals(201, inserted.getHttpStatusCode());
    Person read = table.execute(TableOperation.retrieve("p", "ada", Person.class)).getResultAsType();
    assertEquals("Ada 1815", read.getName() + " " + read.getBorn());
    assertEquals(inserted.getEtag(), read.getEtag());
  }

  @Test
  @DisplayName("InsertEntity: twice")
  void twice() throws Exception {
    CloudTable table = tables.create();
    assertEquals(204, table.execute(TableOperation.insert(entity("r"))).getHttpStatusCode());
    refused(409, "EntityAlreadyExists", () -> table.execute(TableOperation.insert(entity("r"))));
    refused(404, "TableNotFound", () -> Clients.missing().execute(TableOperation.insert(entity("r"))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "+%20&=", "ö世😀"})
  @DisplayName("InsertEntity: odd keys")
  void keys(String row) throws Exception {
    CloudTable table = tables.create();
    table.execute(TableOperation.insert(entity(row)));
    assertEquals(row, read(table, row).getRowKey());
    table.execute(TableOperation.delete(conditional(entity(row), "*")));
    assertNull(read(table, row));
  }

  @Test
  @DisplayName("GetEntity: not there")
  void missing() throws Exception {
    assertNull(read(tables.create(), "missing"));
    assertNull(read(Clients.missing(), "missing"));
  }

  /** Asserts what a change leaves of an entity, and that it needs the entity to be there and unchanged. */
  private void changes(Function<DynamicTableEntity, TableOperation> change, List<String> left) throws Exception {
    CloudTable table = tables.create();
    refused(404, "ResourceNotFound", () -> table.execute(change.apply(conditional(entity("r"), "*"))));
    String stale = table.execute(TableOperation.insert(entity("r", "A", 1))).getEtag();
    String current = table.execute(TableOperation.replace(conditional(entity("r", "A", 2), stale))).getEtag();
    assertNotEquals(stale, current);
    for (String etag : List.of(stale, UNKNOWN)) {
      refused(412, "UpdateConditionNotSatisfied", () -> table.execute(change.apply(conditional(entity("r", "B", 3), etag))));
    }
    TableResult changed = table.execute(change.apply(conditional(entity("r", "B", 3), current)));
    assertEquals(204, changed.getHttpStatusCode());
    DynamicTableEntity read = read(table, "r");
    assertEquals(left, read == null ? List.of() : names(read));
    if (read != null) {
      assertEquals(changed.getEtag(), read.getEtag());
    }
  }

  @Test
  @DisplayName("UpdateEntity: replaces")
  void replace() throws Exception {
    changes(TableOperation::replace, List.of("B"));
  }

  @Test
  @DisplayName("MergeEntity: keeps the rest")
  void merge() throws Exception {
    changes(TableOperation::merge, List.of("A", "B"));
  }

  @Test
  @DisplayName("DeleteEntity: if unchanged")
  void delete() throws Exception {
    changes(TableOperation::delete, List.of());
  }

  private void upserts(Function<DynamicTableEntity, TableOperation> upsert, List<String> left) throws Exception {
    CloudTable table = tables.create();
    table.execute(upsert.apply(entity("r", "A", 1)));
    TableResult second = table.execute(upsert.apply(entity("r", "B", 2)));
    assertEquals(left, names(read(table, "r")));
    assertEquals(second.getEtag(), read(table, "r").getEtag());
    refused(404, "TableNotFound", () -> Clients.missing().execute(upsert.apply(entity("r"))));
  }

  @Test
  @DisplayName("UpsertEntity: inserts or replaces")
  void insertOrReplace() throws Exception {
    upserts(TableOperation::insertOrReplace, List.of("B"));
  }

  @Test
  @DisplayName("UpsertEntity: inserts or merges")
  void insertOrMerge() throws Exception {
    upserts(TableOperation::insertOrMerge, List.of("A", "B"));
  }
}
