package edgetable;

import static edgetable.Clients.entity;
import static edgetable.Clients.refused;
import static edgetable.Clients.rows;

import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import com.azure.data.tables.models.ListTablesOptions;
import com.azure.data.tables.sas.TableAccountSasPermission;
import com.azure.data.tables.sas.TableAccountSasResourceType;
import com.azure.data.tables.sas.TableAccountSasService;
import com.azure.data.tables.sas.TableAccountSasSignatureValues;
import com.azure.data.tables.sas.TableSasIpRange;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Shared access signatures of an account. */
class AccountSasTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static String there;

  @BeforeAll
  static void fill() {
    var table = tables.create();
    there = table.getTableName();
    table.createEntity(entity("there"));
  }

  private static TableAccountSasSignatureValues values(String types, String permissions) {
    return new TableAccountSasSignatureValues(
        OffsetDateTime.now().plusHours(1),
        TableAccountSasPermission.parse(permissions),
        TableAccountSasService.parse("t"),
        TableAccountSasResourceType.parse(types));
  }

  private static TableServiceClient signed(TableAccountSasSignatureValues values) {
    return with(Clients.service().generateAccountSas(values));
  }

  private static TableServiceClient with(String sas) {
    return new TableServiceClientBuilder()
        .endpoint(Clients.endpoint()).sasToken(sas).retryOptions(Clients.once()).buildClient();
  }

  /** Operations by name, resource type and the permissions they need together. */
  static Stream<Arguments> permissions() {
    Map<String, Consumer<TableServiceClient>> operations = new LinkedHashMap<>();
    operations.put("QueryTables c l", by -> by.listTables(
        new ListTablesOptions().setFilter("TableName eq '" + there + "'"), null, null).forEach(table -> {}));
    operations.put("CreateTable c c", by -> by.createTable(tables.name()));
    operations.put("DeleteTable c d", by -> by.deleteTable(tables.create().getTableName()));
    operations.put("QueryEntities o r", by -> rows(by.getTableClient(there).listEntities()));
    operations.put("GetEntity o r", by -> by.getTableClient(there).getEntity("p", "there"));
    operations.put("InsertEntity o a", by -> by.getTableClient(there).createEntity(entity(Clients.newName())));
    operations.put("MergeEntity o u", by -> by.getTableClient(there).updateEntity(entity("there")));
    operations.put("UpsertEntity o au", by -> by.getTableClient(there).upsertEntity(entity("there")));
    operations.put("DeleteEntity o d", by -> {
      String row = Clients.newName();
      Clients.table(there).createEntity(entity(row));
      by.getTableClient(there).deleteEntity("p", row);
    });
    operations.put("ServiceProperties s r", TableServiceClient::getProperties);
    List<Arguments> cases = new ArrayList<>();
    for (String types : List.of("s", "c", "o", "sco")) {
      for (String permissions : List.of("rl", "rwdlacu", "w", "d", "au")) {
        operations.forEach((operation, call) -> {
          String[] parts = operation.split(" ");
          String answer = "allows";
          if (!types.contains(parts[1])) {
            answer = "AuthorizationResourceTypeMismatch";
          } else if (!parts[2].chars().allMatch(letter -> permissions.indexOf(letter) >= 0)
              && !(parts[0].equals("CreateTable") && permissions.contains("w"))) {
            answer = "AuthorizationPermissionMismatch";
          }
          cases.add(Arguments.of(types, permissions, parts[0], answer, call));
        });
      }
    }
    return cases.stream();
  }

  @ParameterizedTest(name = "{0} {1} for {2}: {3}")
  @DisplayName("SAS: of the account,")
  @MethodSource("permissions")
  void permissions(
      String types, String permissions, String operation, String answer, Consumer<TableServiceClient> call) {
    TableServiceClient by = signed(values(types, permissions));
    if (answer.equals("allows")) {
      call.accept(by);
    } else {
      refused(403, answer, () -> call.accept(by));
    }
  }

  @Test
  @DisplayName("SAS: of the account, never for access policies")
  void policies() {
    var by = signed(values("sco", "rwdlacu")).getTableClient(there);
    refused(403, "AuthorizationFailure", by::getAccessPolicies);
    refused(403, "AuthorizationFailure", () -> by.setAccessPolicies(List.of()));
  }

  @Test
  @DisplayName("SAS: of the account, expired, not yet valid, from elsewhere, forged")
  void refusals() {
    OffsetDateTime now = OffsetDateTime.now();
    var early = values("o", "r").setStartTime(now.plusMinutes(30));
    var expired = new TableAccountSasSignatureValues(
        now.minusHours(1), TableAccountSasPermission.parse("r"),
        TableAccountSasService.parse("t"), TableAccountSasResourceType.parse("o"));
    for (var values : List.of(early, expired)) {
      refused(403, "AuthenticationFailed", () -> signed(values).getTableClient(there).getEntity("p", "there"));
    }
    var elsewhere = values("o", "r").setSasIpRange(TableSasIpRange.parse("203.0.113.7"));
    refused(403, "AuthorizationSourceIPMismatch", () -> signed(elsewhere).getTableClient(there).getEntity("p", "there"));
    String forged = Clients.service().generateAccountSas(values("o", "r")).replace("sp=r", "sp=raud");
    refused(403, "AuthenticationFailed", () -> with(forged).getTableClient(there).getEntity("p", "there"));
  }

  @Test
  @DisplayName("SAS: of the account, but for another service")
  void otherService() {
    var blobs = new TableAccountSasSignatureValues(
        OffsetDateTime.now().plusHours(1), TableAccountSasPermission.parse("r"),
        TableAccountSasService.parse("b"), TableAccountSasResourceType.parse("sco"));
    refused(403, "AuthorizationServiceMismatch", () -> signed(blobs).getTableClient(there).getEntity("p", "there"));
  }
}
