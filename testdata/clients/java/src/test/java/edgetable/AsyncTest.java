package edgetable;

import static edgetable.Clients.entity;
import static edgetable.Clients.numbers;
import static edgetable.Clients.own;
import static edgetable.Clients.refused;
import static edgetable.Clients.rolledBack;
import static edgetable.Clients.rows;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.data.tables.TableAsyncClient;
import com.azure.data.tables.TableServiceAsyncClient;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.ListTablesOptions;
import com.azure.data.tables.models.TableEntityUpdateMode;
import com.azure.data.tables.models.TableServiceException;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The asynchronous clients, as far as they go another way than the synchronous ones. */
class AsyncTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static final TableServiceAsyncClient service = Clients.serviceBuilder().buildAsyncClient();
  private static TableAsyncClient table;

  @BeforeAll
  static void create() {
    table = Clients.tableBuilder(tables.create().getTableName()).buildAsyncClient();
  }

  @Test
  @DisplayName("CreateTable: asynchronous")
  void createTable() {
    String name = tables.name();
    assertEquals(name, service.createTable(name).map(TableAsyncClient::getTableName).block());
    refused(409, "TableAlreadyExists", () -> service.createTable(name).block());
    assertEquals(409, service.createTableIfNotExistsWithResponse(name).block().getStatusCode());
  }

  @Test
  @DisplayName("QueryTables: asynchronous")
  void listTables() {
    var options = new ListTablesOptions().setFilter("TableName eq '" + table.getTableName() + "'");
    assertEquals(List.of(table.getTableName()), service.listTables(options).map(item -> item.getName()).collectList().block());
  }

  @Test
  @DisplayName("DeleteTable: asynchronous")
  void deleteTable() {
    String name = tables.create().getTableName();
    assertEquals(204, service.deleteTableWithResponse(name).block().getStatusCode());
    assertEquals(404, service.deleteTableWithResponse(name).block().getStatusCode());
  }

  @Test
  @DisplayName("InsertEntity: asynchronous, many at a time")
  void insert() {
    Flux.fromIterable(numbers(0, 100))
        .flatMap(row -> table.createEntity(entity("many" + row, "N", row)), 16)
        .then()
        .block();
    var options = new ListEntitiesOptions().setFilter("RowKey ge 'many' and RowKey lt 'manz'");
    assertEquals(
        numbers(0, 100).stream().map("many"::concat).toList(),
        rows(table.listEntities(options).collectList().block()));
    refused(409, "EntityAlreadyExists", () -> table.createEntity(entity("many0000")).block());
  }

  @Test
  @DisplayName("MergeEntity: asynchronous, of all that try with one ETag a single one wins")
  void merge() {
    table.createEntity(entity("race", "N", 0)).block();
    var read = table.getEntity("p", "race").block();
    List<Integer> statuses = Flux.range(1, 16)
        .flatMap(n -> table
            .updateEntityWithResponse(
                entity("race", "N", n, "odata.etag", read.getETag()), TableEntityUpdateMode.MERGE, true)
            .map(response -> response.getStatusCode())
            .onErrorResume(
                TableServiceException.class,
                failure -> Mono.just(failure.getResponse().getStatusCode())))
        .sort()
        .collectList()
        .block();
    assertEquals(204, statuses.get(0));
    assertEquals(Collections.nCopies(15, 412), statuses.subList(1, 16));
  }

  @Test
  @DisplayName("GetEntity: asynchronous")
  void get() {
    table.upsertEntity(entity("get", "A", "x", "B", 1L)).block();
    assertEquals(Map.of("A", "x", "B", 1L), own(table.getEntity("p", "get").block()));
    refused(404, "ResourceNotFound", () -> table.getEntity("p", "missing").block());
  }

  @Test
  @DisplayName("DeleteEntity: asynchronous")
  void delete() {
    table.createEntity(entity("delete")).block();
    table.deleteEntity("p", "delete").block();
    table.deleteEntity("p", "delete").block(); // the SDK passes over the 404
    refused(404, "ResourceNotFound", () -> table.getEntity("p", "delete").block());
  }

  @Test
  @DisplayName("QueryEntities: asynchronous, page by page")
  void pages() {
    var paged = Clients.tableBuilder(tables.create().getTableName()).buildAsyncClient();
    paged.submitTransaction(creates(50)).block();
    var options = new ListEntitiesOptions().setTop(20);
    assertEquals(
        List.of(numbers(0, 20), numbers(20, 40), numbers(40, 50)),
        paged.listEntities(options).byPage().map(page -> rows(page.getElements())).collectList().block());
  }

  @Test
  @DisplayName("EntityGroupTransaction: asynchronous")
  void transaction() {
    var empty = Clients.tableBuilder(tables.create().getTableName()).buildAsyncClient();
    rolledBack(99, "InvalidInput", () -> empty.submitTransaction(creates(101)).block());
    assertEquals(100, empty.submitTransaction(creates(100)).block().getTransactionActionResponses().size());
    rolledBack(0, "EntityAlreadyExists", () -> empty.submitTransaction(creates(2)).block());
  }

  private static List<TableTransactionAction> creates(int count) {
    return numbers(0, count).stream()
        .map(row -> new TableTransactionAction(TableTransactionActionType.CREATE, entity(row)))
        .toList();
  }
}
