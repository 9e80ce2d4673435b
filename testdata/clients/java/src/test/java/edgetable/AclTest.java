package edgetable;

import static edgetable.Clients.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Named.named;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.TableAccessPolicy;
import com.azure.data.tables.models.TableSignedIdentifier;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AclTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static final OffsetDateTime START = OffsetDateTime.parse("2021-06-08T02:10:09Z");
  private static final OffsetDateTime EXPIRY = OffsetDateTime.parse("2031-06-08T04:10:09+02:00");

  /** What is compared of a policy: absent parts are null, times in UTC. */
  private record Policy(String id, OffsetDateTime start, OffsetDateTime expiry, String permissions) {
    TableSignedIdentifier identifier() {
      boolean empty = start == null && expiry == null && permissions == null;
      return new TableSignedIdentifier(id).setAccessPolicy(empty
          ? null
          : new TableAccessPolicy().setStartsOn(start).setExpiresOn(expiry).setPermissions(permissions));
    }

    static Policy of(TableSignedIdentifier identifier) {
      TableAccessPolicy policy = identifier.getAccessPolicy();
      return policy == null
          ? new Policy(identifier.getId(), null, null, null)
          : new Policy(identifier.getId(), policy.getStartsOn(), policy.getExpiresOn(), policy.getPermissions());
    }
  }

  private static Policy full(String id) {
    return new Policy(id, START, EXPIRY.withOffsetSameInstant(START.getOffset()), "raud");
  }

  private static void set(TableClient table, List<Policy> policies) {
    table.setAccessPolicies(policies.stream().map(Policy::identifier).toList());
  }

  private static List<Policy> get(TableClient table) {
    List<TableSignedIdentifier> identifiers = table.getAccessPolicies().getIdentifiers();
    return identifiers == null ? List.of() : identifiers.stream().map(Policy::of).toList();
  }

  @Test
  @DisplayName("TableACL: empty at first")
  void empty() {
    assertEquals(List.of(), get(tables.create()));
  }

  @Test
  @DisplayName("TableACL: five policies, in their order")
  void five() {
    TableClient table = tables.create();
    List<Policy> policies = List.of(
        new Policy("id only", null, null, null),
        new Policy("permission only", null, null, "r"),
        new Policy("times only", START, full("").expiry(), null),
        full("full"),
        new Policy("<&> \"odd\" 'é'", null, START, "ra"));
    set(table, policies);
    assertEquals(policies, get(table));
    assertEquals(policies, get(Clients.table(table.getTableName().toUpperCase())));
  }

  @Test
  @DisplayName("TableACL: a time of another zone")
  void zone() {
    TableClient table = tables.create();
    set(table, List.of(new Policy("zone", null, EXPIRY, "r")));
    assertEquals(full("zone").expiry(), get(table).get(0).expiry());
  }

  @Test
  @DisplayName("TableACL: replaced as a whole, and cleared")
  void replaced() {
    TableClient table = tables.create();
    set(table, List.of(full("one"), full("two")));
    List<Policy> two = List.of(new Policy("two", null, null, "d"));
    assertEquals(204, table.setAccessPoliciesWithResponse(List.of(two.get(0).identifier()), null, null).getStatusCode());
    assertEquals(two, get(table));
    set(table, List.of());
    assertEquals(List.of(), get(table));
    set(table, two);
    table.setAccessPolicies(null);
    assertEquals(List.of(), get(table));
  }

  @Test
  @DisplayName("TableACL: gone with its table")
  void gone() {
    TableClient table = tables.create();
    set(table, List.of(full("one")));
    table.deleteTable();
    table.createTable();
    assertEquals(List.of(), get(table));
  }

  static Stream<Named<List<Policy>>> refusals() {
    return Stream.of(
        named("six policies", Stream.of("a", "b", "c", "d", "e", "f").map(AclTest::full).toList()),
        named("one id twice", List.of(full("a"), full("a"))),
        named("an id of 65 characters", List.of(full("i".repeat(65)))),
        named("a permission that tables do not have", List.of(new Policy("a", null, null, "rwd"))));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("TableACL: refused for")
  @MethodSource("refusals")
  void refusals(List<Policy> policies) {
    TableClient table = tables.create();
    set(table, List.of(full("kept")));
    refused(400, "InvalidXmlDocument", () -> set(table, policies));
    assertEquals(List.of(full("kept")), get(table));
  }

  @Test
  @DisplayName("TableACL: a table that is not there")
  void nowhere() {
    TableClient missing = Clients.table(Clients.newName());
    refused(404, "TableNotFound", () -> get(missing));
    refused(404, "TableNotFound", () -> set(missing, List.of(full("a"))));
  }
}
