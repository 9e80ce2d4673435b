package tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static tests.Clients.entity;
import static tests.Clients.read;
import static tests.Clients.refused;
import static tests.Clients.rows;
import static tests.Clients.signed;

import com.microsoft.azure.storage.CorsHttpMethods;
import com.microsoft.azure.storage.CorsRule;
import com.microsoft.azure.storage.LoggingOperations;
import com.microsoft.azure.storage.MetricsLevel;
import com.microsoft.azure.storage.ServiceProperties;
import com.microsoft.azure.storage.table.CloudTable;
import com.microsoft.azure.storage.table.CloudTableClient;
import com.microsoft.azure.storage.table.SharedAccessTablePermissions;
import com.microsoft.azure.storage.table.SharedAccessTablePolicy;
import com.microsoft.azure.storage.table.TableOperation;
import com.microsoft.azure.storage.table.TablePermissions;
import java.util.Date;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ServiceTest {
  private static final long HOUR = 3_600_000;

  @RegisterExtension final Tables tables = new Tables();

  /** A policy that ends so many milliseconds from now. */
  private static SharedAccessTablePolicy policy(long end, SharedAccessTablePermissions permission) {
    SharedAccessTablePolicy policy = new SharedAccessTablePolicy();
    policy.setPermissions(EnumSet.of(permission));
    policy.setSharedAccessExpiryTime(new Date(System.currentTimeMillis() / 1000 * 1000 + end));
    return policy;
  }

  @Test
  @DisplayName("ServiceProperties: written and read")
  void properties() throws Exception {
    CloudTableClient service = Clients.service();
    ServiceProperties before = service.downloadServiceProperties();
    try {
      ServiceProperties wanted = service.downloadServiceProperties();
      wanted.getLogging().setLogOperationTypes(EnumSet.of(LoggingOperations.READ, LoggingOperations.DELETE));
      wanted.getLogging().setRetentionIntervalInDays(5);
      wanted.getHourMetrics().setMetricsLevel(MetricsLevel.SERVICE_AND_API);
      wanted.getHourMetrics().setRetentionIntervalInDays(6);
      wanted.getMinuteMetrics().setMetricsLevel(MetricsLevel.DISABLED);
      CorsRule rule = new CorsRule();
      rule.setAllowedOrigins(List.of("http://example.com", "*"));
      rule.setAllowedMethods(EnumSet.of(CorsHttpMethods.GET, CorsHttpMethods.MERGE));
      rule.setAllowedHeaders(List.of("x-ms-meta-*"));
      rule.setExposedHeaders(List.of("x-ms-*"));
      rule.setMaxAgeInSeconds(60);
      wanted.getCors().getCorsRules().clear();
      wanted.getCors().getCorsRules().add(rule);
      service.uploadServiceProperties(wanted);

      ServiceProperties read = service.downloadServiceProperties();
      assertEquals(EnumSet.of(LoggingOperations.READ, LoggingOperations.DELETE), read.getLogging().getLogOperationTypes());
      assertEquals(5, read.getLogging().getRetentionIntervalInDays());
      assertEquals(MetricsLevel.SERVICE_AND_API, read.getHourMetrics().getMetricsLevel());
      assertEquals(6, read.getHourMetrics().getRetentionIntervalInDays());
      assertEquals(MetricsLevel.DISABLED, read.getMinuteMetrics().getMetricsLevel());
      CorsRule stored = read.getCors().getCorsRules().get(0);
      assertEquals(List.of("http://example.com", "*"), stored.getAllowedOrigins());
      assertEquals(EnumSet.of(CorsHttpMethods.GET, CorsHttpMethods.MERGE), stored.getAllowedMethods());
      assertEquals(60, stored.getMaxAgeInSeconds());
    } finally {
      service.uploadServiceProperties(before);
    }
  }

  @Test
  @DisplayName("TableACL: two policies, and none")
  void acl() throws Exception {
    CloudTable table = tables.create();
    TablePermissions wanted = new TablePermissions();
    wanted.getSharedAccessPolicies().put("readers", policy(HOUR, SharedAccessTablePermissions.QUERY));
    wanted.getSharedAccessPolicies().put("writers", policy(HOUR, SharedAccessTablePermissions.ADD));
    table.uploadPermissions(wanted);
    TablePermissions read = table.downloadPermissions();
    assertEquals(wanted.getSharedAccessPolicies().keySet(), read.getSharedAccessPolicies().keySet());
    SharedAccessTablePolicy readers = read.getSharedAccessPolicies().get("readers");
    assertEquals(EnumSet.of(SharedAccessTablePermissions.QUERY), readers.getPermissions());
    assertEquals(wanted.getSharedAccessPolicies().get("readers").getSharedAccessExpiryTime(),
        readers.getSharedAccessExpiryTime());
    table.uploadPermissions(new TablePermissions());
    assertEquals(0, table.downloadPermissions().getSharedAccessPolicies().size());
  }

  @Test
  @DisplayName("SAS: for reading a table")
  void sas() throws Exception {
    CloudTable table = tables.create();
    table.execute(TableOperation.insert(entity("r", "A", 1)));
    CloudTable reader = signed(table, table.generateSharedAccessSignature(
        policy(HOUR, SharedAccessTablePermissions.QUERY), null, null, null, null, null));
    assertEquals(1, read(reader, "r").getProperties().size());
    refused(403, "AuthorizationPermissionMismatch", () -> reader.execute(TableOperation.insert(entity("new"))));
  }

  @Test
  @DisplayName("SAS: for a range")
  void range() throws Exception {
    CloudTable table = tables.create();
    for (String row : List.of("a", "b", "c")) {
      table.execute(TableOperation.insert(entity(row)));
    }
    CloudTable reader = signed(table, table.generateSharedAccessSignature(
        policy(HOUR, SharedAccessTablePermissions.QUERY), null, "p", "b", "p", "b"));
    assertEquals(List.of("b"), rows(reader));
    assertNull(read(reader, "c")); // a point read outside the range finds nothing
  }

  @Test
  @DisplayName("SAS: by a policy that is taken away")
  void policies() throws Exception {
    CloudTable table = tables.create();
    TablePermissions permissions = new TablePermissions();
    permissions.getSharedAccessPolicies().put("readers", policy(HOUR, SharedAccessTablePermissions.QUERY));
    table.uploadPermissions(permissions);
    CloudTable reader = signed(table, table.generateSharedAccessSignature(null, "readers", null, null, null, null));
    assertEquals(List.of(), rows(reader));
    table.uploadPermissions(new TablePermissions());
    refused(403, "AuthenticationFailed", () -> reader.execute(TableOperation.insert(entity("r"))));
  }

  @Test
  @DisplayName("SAS: expired")
  void expired() throws Exception {
    CloudTable table = tables.create();
    CloudTable reader = signed(table, table.generateSharedAccessSignature(
        policy(-HOUR, SharedAccessTablePermissions.QUERY), null, null, null, null, null));
    refused(403, "AuthenticationFailed", () -> reader.execute(TableOperation.insert(entity("r"))));
  }

  @Test
  @DisplayName("Errors: a wrong key")
  void stranger() throws Exception {
    String stranger = Clients.CONNECTION_STRING.replaceFirst("AccountKey=[^;]*", "AccountKey=d3JvbmcgYnV0IHdlbGwtZm9ybWVkIGtleQ==");
    refused(403, "AuthenticationFailed", () -> Clients.serviceOf(stranger).listTablesSegmented());
  }
}
