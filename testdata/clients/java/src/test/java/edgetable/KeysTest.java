package edgetable;

import static edgetable.Clients.own;
import static edgetable.Clients.refused;
import static edgetable.Clients.rolledBack;
import static edgetable.Clients.rows;
import static edgetable.Clients.tooLong;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Named.named;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableEntityUpdateMode;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class KeysTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static TableClient table;

  @BeforeAll
  static void create() {
    table = tables.create();
  }

  /** Legal keys that break servers which decode twice, forget to un-double quotes or take a plus for a blank. */
  static Stream<Named<String>> odd() {
    return Stream.of(
        named("quote", "O'Brien"),
        named("quotes in a row", "''"),
        named("quote at the ends", "'x'"),
        named("double quote", "say \"hi\""),
        named("percent", "100%"),
        named("looks encoded", "row-%20-%27-%2525"),
        named("blank", "a b"),
        named("plus", "a+b"),
        named("comma", "a,b"),
        named("parentheses", "f(x)"),
        named("braces", "{x}"),
        named("ampersand", "a&b;c"),
        named("colon", "12:30@home"),
        named("accents", "row-ô-"),
        named("unicode", "Zażółć 漢字 عربى"),
        named("emoji", "👩‍👩‍👧‍👦"),
        named("astral", "\ud800\udc00\udbff\udffd"),
        named("longest", "k".repeat(512)),
        named("empty", ""));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("GetEntity: by an odd key:")
  @MethodSource("odd")
  void oneByOne(String key) {
    if (tooLong(key, key)) {
      refused(400, "KeyValueTooLarge", () -> table.createEntity(new TableEntity(key, key)));
      return;
    }
    table.createEntity(new TableEntity(key, key).addProperty("N", 1));
    assertEquals(Map.of("N", 1), own(table.getEntity(key, key)));
    assertEquals(List.of(key), rows(table.listEntities(by(key), null, null)));
    table.updateEntity(new TableEntity(key, key).addProperty("N", 2), TableEntityUpdateMode.REPLACE);
    table.upsertEntity(new TableEntity(key, key).addProperty("M", 3));
    TableEntity read = table.getEntity(key, key);
    assertEquals(Map.of("N", 2, "M", 3), own(read));
    assertEquals(key, read.getPartitionKey());
    assertEquals(204, table.deleteEntityWithResponse(read, true, null, null).getStatusCode());
    refused(404, "ResourceNotFound", () -> table.getEntity(key, key));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("EntityGroupTransaction: with an odd key:")
  @MethodSource("odd")
  void together(String key) {
    String partition = key + "t";
    if (tooLong(partition, key)) {
      rolledBack(0, "KeyValueTooLarge", () -> submit(TableTransactionActionType.CREATE, new TableEntity(partition, key)));
      return;
    }
    submit(TableTransactionActionType.CREATE, new TableEntity(partition, key).addProperty("N", 1));
    submit(TableTransactionActionType.UPDATE_MERGE, new TableEntity(partition, key).addProperty("M", 2));
    assertEquals(Map.of("N", 1, "M", 2), own(table.getEntity(partition, key)));
    submit(TableTransactionActionType.DELETE, new TableEntity(partition, key));
    refused(404, "ResourceNotFound", () -> table.getEntity(partition, key));
  }

  private static void submit(TableTransactionActionType type, TableEntity entity) {
    var result = table.submitTransaction(List.of(new TableTransactionAction(type, entity)));
    assertEquals(204, result.getTransactionActionResponses().get(0).getStatusCode());
  }

  static Stream<Arguments> refusals() {
    return Stream.of(
        arguments(named("a slash", "a/b"), "OutOfRangeInput"),
        arguments(named("a backslash", "a\\b"), "OutOfRangeInput"),
        arguments(named("a hash", "a#b"), "OutOfRangeInput"),
        arguments(named("a question mark", "a?b"), "OutOfRangeInput"),
        arguments(named("a control character", "a\1b"), "OutOfRangeInput"),
        arguments(named("1025 characters", "k".repeat(1025)), "PropertyValueTooLarge"));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("Errors: a key is refused for")
  @MethodSource("refusals")
  void refusals(String key, String code) {
    refused(400, code, () -> table.createEntity(new TableEntity("p", key)));
    refused(400, code, () -> table.createEntity(new TableEntity(key, "r")));
  }


  private static ListEntitiesOptions by(String key) {
    String literal = "'" + key.replace("'", "''") + "'";
    return new ListEntitiesOptions().setFilter("PartitionKey eq %s and RowKey eq %s".formatted(literal, literal));
  }
}
