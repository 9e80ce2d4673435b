package edgetable;

import static edgetable.Clients.entity;
import static edgetable.Clients.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Named.named;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableClientBuilder;
import com.azure.data.tables.models.TableErrorCode;
import com.azure.data.tables.models.TableServiceError;
import com.azure.data.tables.models.TableServiceException;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AuthTest {
  @RegisterExtension static final Tables tables = new Tables();

  static Stream<Named<Consumer<TableClient>>> operations() {
    return Stream.of(
        named("CreateTable", TableClient::createTable),
        named("DeleteTable", TableClient::deleteTable),
        named("InsertEntity", table -> table.createEntity(entity("r"))),
        named("GetEntity", table -> table.getEntity("p", "r")),
        named("UpdateEntity", table -> table.updateEntity(entity("r"))),
        named("UpsertEntity", table -> table.upsertEntity(entity("r"))),
        named("DeleteEntity", table -> table.deleteEntity("p", "r")),
        named("QueryEntities", table -> Clients.rows(table.listEntities())),
        named("EntityGroupTransaction", table -> table.submitTransaction(
            List.of(new TableTransactionAction(TableTransactionActionType.CREATE, entity("r"))))));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("Errors: a wrong key for")
  @MethodSource("operations")
  void wrongKey(Consumer<TableClient> operation) {
    // Refused before any look at the table.
    for (String name : List.of(tables.create().getTableName(), Clients.newName())) {
      TableClient stranger =
          new TableClientBuilder().connectionString(Clients.STRANGER).retryOptions(Clients.once()).tableName(name).buildClient();
      refused(403, "AuthenticationFailed", () -> operation.accept(stranger));
    }
  }

  @Test
  @DisplayName("Errors: the SDK's codes, the status and a message with the request's id")
  void mapping() {
    TableClient table = tables.create();
    table.createEntity(entity("r"));
    var failure = refused(409, "EntityAlreadyExists", () -> table.createEntity(entity("r")));
    TableServiceError error = assertInstanceOf(TableServiceException.class, failure).getValue();
    assertEquals(TableErrorCode.ENTITY_ALREADY_EXISTS, error.getErrorCode());
    String id = Clients.header(failure.getResponse(), "x-ms-request-id");
    assertTrue(
        error.getErrorMessage().startsWith("The specified entity already exists.\nRequestId:" + id + "\n"),
        error.getErrorMessage());
  }
}
