package edgetable;

import static com.azure.data.tables.models.TableTransactionActionType.CREATE;
import static com.azure.data.tables.models.TableTransactionActionType.DELETE;
import static com.azure.data.tables.models.TableTransactionActionType.UPDATE_MERGE;
import static com.azure.data.tables.models.TableTransactionActionType.UPDATE_REPLACE;
import static com.azure.data.tables.models.TableTransactionActionType.UPSERT_MERGE;
import static com.azure.data.tables.models.TableTransactionActionType.UPSERT_REPLACE;
import static edgetable.Clients.entity;
import static edgetable.Clients.numbers;
import static edgetable.Clients.own;
import static edgetable.Clients.refused;
import static edgetable.Clients.rolledBack;
import static edgetable.Clients.rows;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Named.named;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionResponse;
import com.azure.data.tables.models.TableTransactionResult;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TransactionsTest {
  @RegisterExtension static final Tables tables = new Tables();

  @Test
  @DisplayName("EntityGroupTransaction: a hundred")
  void hundred() {
    TableClient table = tables.create();
    var response = table.submitTransactionWithResponse(creates(100), null, null);
    assertEquals(202, response.getStatusCode());
    assertEquals(Collections.nCopies(100, 204), statuses(response.getValue()));
    assertEquals(204, response.getValue().getTableTransactionActionResponseByRowKey("0042").getStatusCode());
    assertEquals(numbers(0, 100), rows(table.listEntities()));
  }

  @Test
  @DisplayName("EntityGroupTransaction: every kind of operation")
  void mixed() {
    TableClient table = tables.create();
    for (String row : List.of("delete", "merge", "replace", "upsert merge", "upsert replace")) {
      table.createEntity(entity(row, "Old", 1));
    }
    TableTransactionResult result = table.submitTransaction(List.of(
        new TableTransactionAction(CREATE, entity("create", "New", 1)),
        new TableTransactionAction(DELETE, entity("delete")),
        new TableTransactionAction(UPDATE_MERGE, entity("merge", "New", 1)),
        new TableTransactionAction(UPDATE_REPLACE, entity("replace", "New", 1)),
        new TableTransactionAction(UPSERT_MERGE, entity("upsert merge", "New", 1)),
        new TableTransactionAction(UPSERT_MERGE, entity("upsert new", "New", 1)),
        new TableTransactionAction(UPSERT_REPLACE, entity("upsert replace", "New", 1))));
    assertEquals(Collections.nCopies(7, 204), statuses(result));
    Map<String, Map<String, Object>> found = new TreeMap<>();
    table.listEntities().forEach(entity -> found.put(entity.getRowKey(), own(entity)));
    Map<String, Object> replaced = Map.of("New", 1);
    Map<String, Object> merged = Map.of("New", 1, "Old", 1);
    assertEquals(
        Map.of("create", replaced, "merge", merged, "replace", replaced,
            "upsert merge", merged, "upsert new", replaced, "upsert replace", replaced),
        found);
  }

  static Stream<Arguments> failures() {
    Function<TableEntity, TableTransactionAction> existing = stale -> new TableTransactionAction(CREATE, entity("there"));
    return Stream.of(
        failure("an entity that exists", existing, "EntityAlreadyExists"),
        failure("a merge of nothing",
            stale -> new TableTransactionAction(UPDATE_MERGE, entity("nowhere")), "ResourceNotFound"),
        failure("a deletion of nothing",
            stale -> new TableTransactionAction(DELETE, entity("nowhere")), "ResourceNotFound"),
        failure("a stale merge",
            stale -> new TableTransactionAction(UPDATE_MERGE, stale, true), "UpdateConditionNotSatisfied"),
        failure("a stale replacement",
            stale -> new TableTransactionAction(UPDATE_REPLACE, stale, true), "UpdateConditionNotSatisfied"),
        failure("a stale deletion",
            stale -> new TableTransactionAction(DELETE, stale, true), "UpdateConditionNotSatisfied"),
        failure("a row twice",
            stale -> new TableTransactionAction(UPSERT_MERGE, entity("new")), "InvalidDuplicateRow"),
        failure("a value too large",
            stale -> new TableTransactionAction(CREATE, entity("large", "A", "x".repeat(32769))), "PropertyValueTooLarge"));
  }

  private static Arguments failure(String name, Function<TableEntity, TableTransactionAction> failing, String code) {
    return arguments(named(name, failing), code);
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("EntityGroupTransaction: nothing is stored for")
  @MethodSource("failures")
  void rollback(Function<TableEntity, TableTransactionAction> failing, String code) {
    TableClient table = tables.create();
    table.createEntity(entity("there", "A", 1));
    TableEntity stale = table.getEntity("p", "there");
    table.updateEntity(entity("there"));
    table.createEntity(entity("victim"));
    String etag = table.getEntity("p", "victim").getETag();
    rolledBack(3, code, () -> table.submitTransaction(List.of(
        new TableTransactionAction(CREATE, entity("new")),
        new TableTransactionAction(UPDATE_MERGE, entity("victim", "A", 2)),
        new TableTransactionAction(UPSERT_REPLACE, entity("newer")),
        failing.apply(stale),
        new TableTransactionAction(CREATE, entity("newest")))));
    assertEquals(List.of("there", "victim"), rows(table.listEntities()));
    assertEquals(etag, table.getEntity("p", "victim").getETag());
  }

  @Test
  @DisplayName("EntityGroupTransaction: only if unchanged")
  void conditions() {
    TableClient table = tables.create();
    table.submitTransaction(creates(2));
    List<TableTransactionAction> steps = List.of(
        new TableTransactionAction(UPDATE_MERGE, table.getEntity("p", "0000").addProperty("N", 7), true),
        new TableTransactionAction(UPDATE_REPLACE, table.getEntity("p", "0001").addProperty("N", 8), true));
    table.submitTransaction(steps);
    assertEquals(7, own(table.getEntity("p", "0000")).get("N"));
    assertEquals(8, own(table.getEntity("p", "0001")).get("N"));
    rolledBack(0, "UpdateConditionNotSatisfied", () -> table.submitTransaction(steps));
  }

  @Test
  @DisplayName("EntityGroupTransaction: more than a hundred")
  void tooMany() {
    TableClient table = tables.create();
    rolledBack(99, "InvalidInput", () -> table.submitTransaction(creates(101)));
    assertEquals(List.of(), rows(table.listEntities()));
  }

  @Test
  @DisplayName("EntityGroupTransaction: two partitions")
  void partitions() {
    TableClient table = tables.create();
    rolledBack(1, "CommandsInBatchActOnDifferentPartitions", () -> table.submitTransaction(List.of(
        new TableTransactionAction(CREATE, entity("r")),
        new TableTransactionAction(CREATE, new TableEntity("q", "r")))));
    assertEquals(List.of(), rows(table.listEntities()));
  }

  @Test
  @DisplayName("EntityGroupTransaction: a table that is not there")
  void nowhere() {
    rolledBack(0, "TableNotFound", () -> Clients.table(Clients.newName()).submitTransaction(creates(2)));
  }

  @Test
  @DisplayName("EntityGroupTransaction: none at all is refused by the SDK")
  void none() {
    assertThrows(IllegalArgumentException.class, () -> Clients.table(Clients.newName()).submitTransaction(List.of()));
  }

  @Test
  @DisplayName("EntityGroupTransaction: up to 4 MiB")
  void large() {
    TableClient table = tables.create();
    table.submitTransaction(sized(40_000)); // just below 4 MiB with the framing
    table.listEntities().forEach(entity -> assertEquals(20_000, ((String) entity.getProperty("B")).length()));
    assertEquals(numbers(0, 100), rows(table.listEntities()));
    refused(413, "RequestBodyTooLarge", () -> table.submitTransaction(sized(43_000)));
  }

  private static List<TableTransactionAction> creates(int count) {
    return numbers(0, count).stream()
        .map(row -> new TableTransactionAction(CREATE, entity(row, "N", Integer.valueOf(row))))
        .toList();
  }

  private static List<TableTransactionAction> sized(int characters) {
    String half = "x".repeat(characters / 2);
    return numbers(0, 100).stream()
        .map(row -> new TableTransactionAction(UPSERT_REPLACE, entity(row, "A", half, "B", half)))
        .toList();
  }

  private static List<Integer> statuses(TableTransactionResult result) {
    // Their headers, ETags among them, are lost in the SDK.
    return result.getTransactionActionResponses().stream().map(TableTransactionActionResponse::getStatusCode).toList();
  }
}
