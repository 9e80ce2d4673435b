package edgetable;

import static edgetable.Clients.entity;
import static edgetable.Clients.refused;
import static edgetable.Clients.rolledBack;
import static edgetable.Clients.rows;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableClientBuilder;
import com.azure.data.tables.models.TableAccessPolicy;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableEntityUpdateMode;
import com.azure.data.tables.models.TableSignedIdentifier;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import com.azure.data.tables.sas.TableSasIpRange;
import com.azure.data.tables.sas.TableSasPermission;
import com.azure.data.tables.sas.TableSasProtocol;
import com.azure.data.tables.sas.TableSasSignatureValues;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Shared access signatures of a table, as the SDK makes them in its own, newer version. */
class SasTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static TableClient table;
  private static TableClient ranged;

  @BeforeAll
  static void fill() {
    table = tables.create();
    table.createEntity(entity("there"));
    ranged = tables.create();
    for (String partition : List.of("p1", "p2", "p3")) {
      for (String row : List.of("r1", "r2", "r3")) {
        ranged.createEntity(new TableEntity(partition, row));
      }
    }
  }

  private static OffsetDateTime hours(int count) {
    return OffsetDateTime.now().plusHours(count);
  }

  private static TableSasSignatureValues values(String permissions) {
    return new TableSasSignatureValues(hours(1), TableSasPermission.parse(permissions));
  }

  /** A client for the table that has nothing but this token. */
  private static TableClient with(String name, String sas) {
    return new TableClientBuilder()
        .endpoint(Clients.endpoint()).sasToken(sas).tableName(name).retryOptions(Clients.once()).buildClient();
  }

  private static TableClient signed(TableClient table, TableSasSignatureValues values) {
    return with(table.getTableName(), table.generateSas(values));
  }

  static Stream<Arguments> permissions() {
    Map<String, Consumer<TableClient>> operations = new LinkedHashMap<>();
    operations.put("QueryEntities r", by -> rows(by.listEntities()));
    operations.put("GetEntity r", by -> by.getEntity("p", "there"));
    operations.put("InsertEntity a", by -> by.createEntity(entity(Clients.newName())));
    operations.put("UpdateEntity u", by -> by.updateEntity(entity("there"), TableEntityUpdateMode.REPLACE));
    operations.put("MergeEntity u", by -> by.updateEntity(entity("there"), TableEntityUpdateMode.MERGE));
    operations.put("UpsertEntity au", by -> by.upsertEntity(entity("there")));
    operations.put("DeleteEntity d", by -> {
      String row = Clients.newName();
      table.createEntity(entity(row));
      by.deleteEntity("p", row);
    });
    List<Arguments> cases = new ArrayList<>();
    for (String permissions : List.of("r", "a", "u", "d", "au", "raud")) {
      operations.forEach((operation, call) -> {
        String[] parts = operation.split(" ");
        boolean enough = parts[1].chars().allMatch(letter -> permissions.indexOf(letter) >= 0);
        cases.add(Arguments.of(permissions, enough ? "allows" : "refuses", parts[0], call));
      });
    }
    return cases.stream();
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @DisplayName("SAS:")
  @MethodSource("permissions")
  void permissions(String permissions, String answer, String operation, Consumer<TableClient> call) {
    TableClient by = signed(table, values(permissions));
    if (answer.equals("allows")) {
      call.accept(by);
    } else {
      refused(403, "AuthorizationPermissionMismatch", () -> call.accept(by));
    }
  }

  @Test
  @DisplayName("SAS: of a transaction each operation is looked at")
  void transaction() {
    var insert = new TableTransactionAction(TableTransactionActionType.CREATE, entity(Clients.newName()));
    var update = new TableTransactionAction(TableTransactionActionType.UPDATE_MERGE, entity("there"));
    List<TableTransactionAction> both = List.of(insert, update);
    rolledBack(1, "AuthorizationPermissionMismatch", () -> signed(table, values("a")).submitTransaction(both));
    signed(table, values("au")).submitTransaction(both);
  }

  @Test
  @DisplayName("SAS: expired, and not yet valid")
  void times() {
    var expired = new TableSasSignatureValues(hours(-1), TableSasPermission.parse("raud"));
    var early = values("raud").setStartTime(hours(1)).setExpiryTime(hours(2));
    for (var values : List.of(expired, early)) {
      refused(403, "AuthenticationFailed", () -> signed(table, values).getEntity("p", "there"));
    }
    signed(table, values("r").setStartTime(hours(-1))).getEntity("p", "there");
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("SAS: changed after it was signed:")
  @CsvSource({"sp=r, sp=raud", "se=2, se=3", "sig=..., sig=AAA"})
  void forged(String from, String to) {
    String sas = table.generateSas(values("r"));
    String forged = sas.replaceFirst(from, to);
    assertNotEquals(sas, forged);
    refused(403, "AuthenticationFailed", () -> with(table.getTableName(), forged).getEntity("p", "there"));
  }

  @Test
  @DisplayName("SAS: any case of the table's name, but no other table")
  void otherTable() {
    String sas = table.generateSas(values("r"));
    assertTrue(rows(with(table.getTableName().toUpperCase(), sas).listEntities()).contains("there"));
    refused(403, "AuthorizationFailure", () -> rows(with(ranged.getTableName(), sas).listEntities()));
  }

  @Test
  @DisplayName("SAS: of a table allows nothing with tables")
  void tables() {
    TableClient by = signed(table, values("raud"));
    refused(403, "AuthorizationFailure", by::createTable);
    refused(403, "AuthorizationFailure", by::deleteTable);
    refused(403, "AuthorizationFailure", by::getAccessPolicies);
    refused(403, "AuthorizationFailure", () -> by.setAccessPolicies(List.of()));
  }

  @Test
  @DisplayName("SAS: bound to addresses")
  void addresses() {
    signed(table, values("r").setSasIpRange(TableSasIpRange.parse("0.0.0.0-255.255.255.255"))).getEntity("p", "there");
    var elsewhere = values("r").setSasIpRange(TableSasIpRange.parse("203.0.113.7"));
    refused(403, "AuthorizationSourceIPMismatch", () -> signed(table, elsewhere).getEntity("p", "there"));
  }

  @Test
  @DisplayName("SAS: bound to a protocol")
  void protocol() {
    signed(table, values("r").setProtocol(TableSasProtocol.HTTPS_HTTP)).getEntity("p", "there");
    var secure = values("r").setProtocol(TableSasProtocol.HTTPS_ONLY);
    if (Clients.endpoint().startsWith("https:")) {
      signed(table, secure).getEntity("p", "there");
    } else {
      refused(403, "AuthorizationProtocolMismatch", () -> signed(table, secure).getEntity("p", "there"));
    }
  }

  @ParameterizedTest(name = "{0} {1} to {2} {3}")
  @DisplayName("SAS: a query sees only its range:")
  @CsvSource({
    "p2, '', p2, r9, p2r1 p2r2 p2r3",
    "p2, r3, , , p2r3 p3r1 p3r2 p3r3",
    ", , p1, r2, p1r1 p1r2",
    "p1, r3, p2, r1, p1r3 p2r1",
    "p9, '', , , ''",
  })
  void range(String startPartition, String startRow, String endPartition, String endRow, String expected) {
    var values = values("r")
        .setStartPartitionKey(startPartition).setStartRowKey(startRow)
        .setEndPartitionKey(endPartition).setEndRowKey(endRow);
    List<String> seen = new ArrayList<>();
    signed(ranged, values).listEntities().forEach(entity -> seen.add(entity.getPartitionKey() + entity.getRowKey()));
    assertEquals(expected, String.join(" ", seen));
  }

  @Test
  @DisplayName("SAS: single entities only within its range")
  void outOfRange() {
    TableClient by = signed(ranged, values("raud")
        .setStartPartitionKey("p2").setStartRowKey("r2").setEndPartitionKey("p2").setEndRowKey("r5"));
    TableEntity within = new TableEntity("p2", "r4");
    by.createEntity(within);
    by.getEntity("p2", "r4");
    by.deleteEntity(within);
    for (TableEntity outside :
        List.of(new TableEntity("p2", "r1"), new TableEntity("p2", "r6"), new TableEntity("p1", "r3"))) {
      refused(404, "ResourceNotFound", () -> by.getEntity(outside.getPartitionKey(), outside.getRowKey()));
      refused(403, "AuthorizationFailure", () -> by.createEntity(outside));
      refused(403, "AuthorizationFailure", () -> by.upsertEntity(outside));
      refused(403, "AuthorizationFailure", () -> by.updateEntity(outside));
      refused(403, "AuthorizationFailure", () -> by.deleteEntity(outside));
    }
  }

  @Test
  @DisplayName("SAS: by a stored policy, which may change and go")
  void storedPolicy() {
    TableClient owner = tables.create();
    store(owner, "ra", hours(1));
    TableClient by = signed(owner, new TableSasSignatureValues("policy"));
    by.createEntity(entity("r"));
    assertEquals(List.of("r"), rows(by.listEntities()));
    refused(403, "AuthorizationPermissionMismatch", () -> by.deleteEntity("p", "r"));
    store(owner, "d", hours(1));
    by.deleteEntity("p", "r");
    refused(403, "AuthorizationPermissionMismatch", () -> rows(by.listEntities()));
    store(owner, "d", hours(-1));
    refused(403, "AuthenticationFailed", () -> by.deleteEntity("p", "r"));
    owner.setAccessPolicies(List.of());
    refused(403, "AuthenticationFailed", () -> by.deleteEntity("p", "r"));
  }

  @Test
  @DisplayName("SAS: what the stored policy leaves open stands in the token")
  void openPolicy() {
    TableClient owner = tables.create();
    store(owner, "r", null);
    var policy = new TableSasSignatureValues("policy");
    refused(403, "AuthenticationFailed", () -> rows(signed(owner, policy).listEntities())); // nobody says until when
    assertEquals(List.of(), rows(signed(owner, policy.setExpiryTime(hours(1))).listEntities()));
    var unknown = new TableSasSignatureValues("nobody").setExpiryTime(hours(1));
    refused(403, "AuthenticationFailed", () -> rows(signed(owner, unknown).listEntities()));
  }

  private static void store(TableClient owner, String permissions, OffsetDateTime expiry) {
    owner.setAccessPolicies(List.of(new TableSignedIdentifier("policy")
        .setAccessPolicy(new TableAccessPolicy().setPermissions(permissions).setExpiresOn(expiry))));
  }
}
