package edgetable;

import static edgetable.Clients.entity;
import static edgetable.Clients.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.http.rest.PagedResponse;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.models.ListTablesOptions;
import com.azure.data.tables.models.TableItem;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TablesTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static final TableServiceClient service = Clients.service();
  private static final List<String> listed = new ArrayList<>();
  private static String prefix;

  @BeforeAll
  static void tablesToList() {
    // Names sort by their letters whatever the case.
    prefix = Clients.newName();
    for (String letter : List.of("A", "b", "C", "d", "E")) {
      listed.add(prefix + letter);
      service.createTable(prefix + letter);
    }
  }

  @AfterAll
  static void deleteListed() {
    listed.forEach(service::deleteTable);
  }

  @Test
  @DisplayName("CreateTable: through the service and through the table")
  void create() {
    String one = tables.name();
    assertEquals(204, service.createTableWithResponse(one, null, null).getStatusCode());
    String other = tables.name();
    assertEquals(other, Clients.table(other).createTable().getName());
    service.getTableClient(one).createEntity(entity("r"));
    service.getTableClient(other).createEntity(entity("r"));
  }

  @Test
  @DisplayName("CreateTable: a name that is taken, in any case")
  void conflict() {
    TableClient table = tables.create();
    refused(409, "TableAlreadyExists", table::createTable);
    refused(409, "TableAlreadyExists", () -> service.createTable(table.getTableName().toUpperCase()));
  }

  @Test
  @DisplayName("CreateTable: if it does not exist")
  void createIfNotExists() {
    String name = tables.name();
    assertEquals(204, service.createTableIfNotExistsWithResponse(name, null, null).getStatusCode());
    assertEquals(409, service.createTableIfNotExistsWithResponse(name, null, null).getStatusCode());
    assertEquals(name, service.createTableIfNotExists(name).getTableName());
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("CreateTable: a name that is refused")
  @CsvSource({
    "two characters, ab, OutOfRangeInput",
    "a dash, a-b, InvalidResourceName",
    "a leading digit, 1abc, InvalidResourceName",
    "an umlaut, täble, InvalidResourceName",
    "reserved, tables, InvalidInput",
    "64 characters, a234567890123456789012345678901234567890123456789012345678901234, OutOfRangeInput",
  })
  void invalidName(String why, String name, String code) {
    refused(400, code, () -> service.createTable(name));
  }

  @Test
  @DisplayName("DeleteTable: is gone, and gone twice is no error")
  void delete() {
    TableClient table = tables.create();
    assertEquals(204, table.deleteTableWithResponse(null, null).getStatusCode());
    assertEquals(404, table.deleteTableWithResponse(null, null).getStatusCode());
    assertEquals(404, service.deleteTableWithResponse(table.getTableName(), null, null).getStatusCode());
    refused(404, "TableNotFound", () -> table.createEntity(entity("r")));
  }

  @Test
  @DisplayName("DeleteTable: through another case of its name")
  void deleteByAnotherCase() {
    TableClient table = tables.create();
    service.deleteTable(table.getTableName().toLowerCase());
    refused(404, "TableNotFound", () -> table.getEntity("p", "r"));
  }

  @Test
  @DisplayName("DeleteTable: a table made anew is empty")
  void recreate() {
    TableClient table = tables.create();
    table.createEntity(entity("r"));
    table.deleteTable();
    table.createTable();
    assertEquals(List.of(), Clients.rows(table.listEntities()));
  }

  @Test
  @DisplayName("QueryTables: filtered, sorted, in the case of their making")
  void list() {
    assertEquals(listed, names(service.listTables(range(), null, null)));
  }

  @Test
  @DisplayName("QueryTables: one by its name")
  void listOne() {
    var options = new ListTablesOptions().setFilter("TableName eq '" + listed.get(2) + "'");
    assertEquals(List.of(listed.get(2)), names(service.listTables(options, null, null)));
  }

  @Test
  @DisplayName("QueryTables: all of them")
  void listAll() {
    assertTrue(names(service.listTables()).containsAll(listed));
  }

  @Test
  @DisplayName("QueryTables: pages of two, and again from a token")
  void pages() {
    List<List<String>> pages = new ArrayList<>();
    String token = null;
    for (PagedResponse<TableItem> page : service.listTables(range().setTop(2), null, null).iterableByPage()) {
      pages.add(names(page.getElements()));
      if (token == null) {
        token = page.getContinuationToken();
      }
    }
    assertEquals(List.of(listed.subList(0, 2), listed.subList(2, 4), listed.subList(4, 5)), pages);
    assertNotNull(token);
    List<String> rest = new ArrayList<>();
    service.listTables(range().setTop(2), null, null).iterableByPage(token)
        .forEach(page -> rest.addAll(names(page.getElements())));
    assertEquals(listed.subList(2, 5), rest);
  }

  @Test
  @DisplayName("QueryTables: a filter that is none")
  void badFilter() {
    var options = new ListTablesOptions().setFilter("aaa bbb ccc");
    refused(400, "InvalidInput", () -> names(service.listTables(options, null, null)));
  }

  private static ListTablesOptions range() {
    return new ListTablesOptions().setFilter("TableName ge '%s' and TableName lt '%sz'".formatted(prefix, prefix));
  }

  private static List<String> names(Iterable<TableItem> items) {
    List<String> names = new ArrayList<>();
    items.forEach(item -> names.add(item.getName()));
    return names;
  }
}
