package edgetable;

import static com.azure.data.tables.models.TableEntityUpdateMode.MERGE;
import static com.azure.data.tables.models.TableEntityUpdateMode.REPLACE;
import static edgetable.Clients.entity;
import static edgetable.Clients.etag;
import static edgetable.Clients.own;
import static edgetable.Clients.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.rest.Response;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableEntityUpdateMode;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class EntitiesTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static final String UNKNOWN = "W/\"datetime'2012-06-15T22%3A51%3A44.9662825Z'\"";
  private static TableClient table;

  @BeforeAll
  static void create() {
    table = tables.create();
  }

  @Test
  @DisplayName("InsertEntity: what was stored is what is read")
  void insert() {
    Response<Void> inserted = table.createEntityWithResponse(entity("insert", "A", "x", "B", 1), null, null);
    assertEquals(204, inserted.getStatusCode());
    TableEntity read = table.getEntity("p", "insert");
    assertEquals(Map.of("A", "x", "B", 1), own(read));
    assertEquals(etag(inserted), read.getETag());
    assertTrue(read.getETag().startsWith("W/\"datetime'" + read.getTimestamp().getYear()), read.getETag());
    assertEquals(
        Clients.endpoint() + "/" + table.getTableName() + "(PartitionKey='p',RowKey='insert')",
        inserted.getHeaders().getValue(HttpHeaderName.LOCATION));
  }

  @Test
  @DisplayName("InsertEntity: a second one with its keys")
  void insertTwice() {
    table.createEntity(entity("twice", "A", "x"));
    refused(409, "EntityAlreadyExists", () -> table.createEntity(entity("twice", "A", "y")));
    table.createEntity(entity("TWICE")); // keys are case-sensitive
    assertEquals(Map.of("A", "x"), own(table.getEntity("p", "twice")));
  }

  @Test
  @DisplayName("InsertEntity: into a table that is not there")
  void insertNowhere() {
    refused(404, "TableNotFound", () -> Clients.table(Clients.newName()).createEntity(entity("r")));
  }

  @Test
  @DisplayName("GetEntity: not there, nor its table")
  void getMissing() {
    refused(404, "ResourceNotFound", () -> table.getEntity("p", "missing"));
    refused(404, "TableNotFound", () -> Clients.table(Clients.newName()).getEntity("p", "missing"));
  }

  @Test
  @DisplayName("GetEntity: select")
  void getSelected() {
    table.createEntity(entity("select", "A", "x", "B", 1));
    assertEquals(Map.of("A", "x"), own(table.getEntityWithResponse("p", "select", List.of("A"), null, null).getValue()));
    TableEntity read = table.getEntityWithResponse("p", "select", List.of("RowKey", "Missing"), null, null).getValue();
    assertEquals("select", read.getRowKey());
    assertTrue(own(read).containsKey("Missing") && own(read).get("Missing") == null, own(read).toString());
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("UpsertEntity: inserts, then updates")
  @EnumSource
  void upsert(TableEntityUpdateMode mode) {
    String row = "upsert " + mode;
    table.upsertEntityWithResponse(entity(row, "Keep", "k", "Change", 1), mode, null, null);
    Response<Void> second = table.upsertEntityWithResponse(entity(row, "Change", "new"), mode, null, null);
    assertEquals(204, second.getStatusCode());
    TableEntity read = table.getEntity("p", row);
    assertEquals(mode == MERGE ? Map.of("Keep", "k", "Change", "new") : Map.of("Change", "new"), own(read));
    assertEquals(etag(second), read.getETag());
  }

  @Test
  @DisplayName("UpsertEntity: into a table that is not there")
  void upsertNowhere() {
    refused(404, "TableNotFound", () -> Clients.table(Clients.newName()).upsertEntity(entity("r")));
  }

  @Test
  @DisplayName("UpdateEntity: replaces")
  void replace() {
    update("replace", REPLACE, Map.of("Change", "new"));
  }

  @Test
  @DisplayName("MergeEntity: keeps what is not named")
  void merge() {
    update("merge", MERGE, Map.of("Keep", "k", "Change", "new"));
  }

  private static void update(String row, TableEntityUpdateMode mode, Map<String, Object> expected) {
    table.createEntity(entity(row, "Keep", "k", "Change", 1));
    String first = table.getEntity("p", row).getETag();
    table.updateEntity(entity(row, "Change", "new"), mode);
    TableEntity read = table.getEntity("p", row);
    assertEquals(expected, own(read));
    assertNotEquals(first, read.getETag());
  }

  @Test
  @DisplayName("UpdateEntity: not there, nor its table")
  void replaceMissing() {
    refused(404, "ResourceNotFound", () -> table.updateEntity(entity("missing"), REPLACE));
    refused(404, "TableNotFound", () -> Clients.table(Clients.newName()).updateEntity(entity("missing"), REPLACE));
  }

  @Test
  @DisplayName("MergeEntity: not there, nor its table")
  void mergeMissing() {
    refused(404, "ResourceNotFound", () -> table.updateEntity(entity("missing"), MERGE));
    refused(404, "TableNotFound", () -> Clients.table(Clients.newName()).updateEntity(entity("missing"), MERGE));
  }

  @Test
  @DisplayName("UpdateEntity: an entity as it was read goes back with its metadata")
  void writeBack() {
    table.createEntity(entity("back", "N", 5L, "D", OffsetDateTime.parse("2020-02-29T00:00:00Z")));
    TableEntity read = table.getEntity("p", "back");
    read.addProperty("More", true);
    table.updateEntityWithResponse(read, REPLACE, true, null, null);
    assertEquals(
        Map.of("N", 5L, "D", OffsetDateTime.parse("2020-02-29T00:00:00Z"), "More", true),
        own(table.getEntity("p", "back")));
  }

  @Test
  @DisplayName("UpdateEntity: only if unchanged")
  void conditionalReplace() {
    conditionalUpdate("conditional replace", REPLACE);
  }

  @Test
  @DisplayName("MergeEntity: only if unchanged")
  void conditionalMerge() {
    conditionalUpdate("conditional merge", MERGE);
  }

  private static void conditionalUpdate(String row, TableEntityUpdateMode mode) {
    TableEntity stale = stored(row);
    table.updateEntity(entity(row, "A", 2), mode);
    for (TableEntity condition : List.of(stale, entity(row, "odata.etag", UNKNOWN, "A", 3))) {
      refused(412, "UpdateConditionNotSatisfied",
          () -> table.updateEntityWithResponse(condition, mode, true, null, null));
    }
    refused(400, "InvalidInput",
        () -> table.updateEntityWithResponse(entity(row, "odata.etag", "MalformedETag"), mode, true, null, null));
    TableEntity current = table.getEntity("p", row);
    assertEquals(2, own(current).get("A"));
    current.addProperty("A", 4);
    table.updateEntityWithResponse(current, mode, true, null, null);
    assertEquals(4, own(table.getEntity("p", row)).get("A"));
  }

  @Test
  @DisplayName("DeleteEntity: is gone, and gone twice is no error")
  void delete() {
    TableEntity entity = stored("delete");
    assertEquals(204, table.deleteEntityWithResponse(entity, false, null, null).getStatusCode());
    assertEquals(404, table.deleteEntityWithResponse(entity, false, null, null).getStatusCode());
    table.deleteEntity("p", "delete");
    refused(404, "ResourceNotFound", () -> table.getEntity("p", "delete"));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("DeleteEntity: only if unchanged")
  @ValueSource(strings = {"stale", "unknown"})
  void conditionalDelete(String which) {
    String row = "conditional delete " + which;
    TableEntity stale = stored(row);
    table.updateEntity(entity(row, "A", 2));
    TableEntity condition = which.equals("stale") ? stale : entity(row, "odata.etag", UNKNOWN);
    refused(412, "UpdateConditionNotSatisfied", () -> table.deleteEntityWithResponse(condition, true, null, null));
    assertEquals(204, table.deleteEntityWithResponse(table.getEntity("p", row), true, null, null).getStatusCode());
  }

  private static TableEntity stored(String row) {
    table.createEntity(entity(row, "A", 1));
    return table.getEntity("p", row);
  }
}
