package edgetable;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.core.exception.HttpResponseException;
import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpResponse;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.core.http.rest.Response;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableClientBuilder;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import com.azure.data.tables.implementation.TableUtils;
import com.azure.data.tables.implementation.models.TableServiceJsonError;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableServiceError;
import com.azure.data.tables.models.TableTransactionFailedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.function.Executable;

/** Clients for the server under test, entities, and what a refusal looks like. */
final class Clients {
  static final String CONNECTION_STRING = System.getenv("EDGETABLE_CONNECTION_STRING");

  static {
    if (CONNECTION_STRING == null || CONNECTION_STRING.isEmpty()) {
      throw new IllegalStateException("EDGETABLE_CONNECTION_STRING is not set: these tests need a running server");
    }
  }

  /** The connection string with a key that is base64 like any other, but nobody's. */
  static final String STRANGER =
      CONNECTION_STRING.replaceFirst("AccountKey=[^;]*", "AccountKey=d3JvbmcgYnV0IHdlbGwtZm9ybWVkIGtleQ==");

  /** How many bytes a PartitionKey and a RowKey may have together, if the server's store declares it; see the README. */
  private static final String KEY_BYTES = System.getenv("EDGETABLE_CLIENTS_KEY_BYTES");

  /** Whether the store refuses these keys. */
  static boolean tooLong(String partition, String row) {
    return KEY_BYTES != null && (partition + row).getBytes(UTF_8).length > Integer.parseInt(KEY_BYTES);
  }

  /** What a setting of the connection string says. */
  static String setting(String name) {
    for (String part : CONNECTION_STRING.split(";")) {
      if (part.startsWith(name + "=")) {
        return part.substring(name.length() + 1);
      }
    }
    throw new IllegalStateException("the connection string has no " + name);
  }

  static String endpoint() {
    return setting("TableEndpoint").replaceFirst("/$", "");
  }

  /** Retries would only hide a 5xx. */
  static RetryOptions once() {
    return new RetryOptions(new FixedDelayOptions(0, Duration.ofMillis(1)));
  }

  static TableServiceClientBuilder serviceBuilder() {
    return new TableServiceClientBuilder().connectionString(CONNECTION_STRING).retryOptions(once());
  }

  /** The account under another address. */
  static TableServiceClient serviceAt(String endpoint) {
    return new TableServiceClientBuilder()
        .endpoint(endpoint)
        .credential(new AzureNamedKeyCredential(setting("AccountName"), setting("AccountKey")))
        .retryOptions(once())
        .buildClient();
  }

  static TableServiceClient service() {
    return serviceBuilder().buildClient();
  }

  static TableClientBuilder tableBuilder(String name) {
    return new TableClientBuilder().connectionString(CONNECTION_STRING).retryOptions(once()).tableName(name);
  }

  static TableClient table(String name) {
    return tableBuilder(name).buildClient();
  }

  /** A table name nobody else uses. */
  static String newName() {
    return "Java" + UUID.randomUUID().toString().replace("-", "");
  }

  /** An entity of partition "p" with properties given as name, value, name, value … */
  static TableEntity entity(String row, Object... properties) {
    TableEntity entity = new TableEntity("p", row);
    for (int i = 0; i < properties.length; i += 2) {
      entity.addProperty((String) properties[i], properties[i + 1]);
    }
    return entity;
  }

  /** The entity's own properties by name: no keys, no timestamp, no metadata. */
  static Map<String, Object> own(TableEntity entity) {
    Map<String, Object> properties = new TreeMap<>(entity.getProperties());
    properties.keySet().removeAll(List.of("PartitionKey", "RowKey", "Timestamp"));
    properties.keySet().removeIf(name -> name.startsWith("odata.") || name.contains("@odata."));
    return properties;
  }

  static List<String> rows(Iterable<TableEntity> entities) {
    List<String> rows = new ArrayList<>();
    entities.forEach(entity -> rows.add(entity.getRowKey()));
    return rows;
  }

  /** Row keys of four digits, which sort like their numbers. */
  static List<String> numbers(int from, int to) {
    return IntStream.range(from, to).mapToObj("%04d"::formatted).toList();
  }

  /**
   * Asserts that the call is refused with this status and code. The code stands in the body of OData's JSON errors; the
   * SDK does not read XML, in which authentication and the service's own operations answer, so there it is the header's.
   */
  static HttpResponseException refused(int status, String code, Executable call) {
    // Of the pages of a list the SDK throws the same under a name of its inside, so only their base is common.
    HttpResponseException failure = assertThrows(HttpResponseException.class, call);
    assertEquals(status + " " + code, failure.getResponse().getStatusCode() + " " + code(failure), failure.getMessage());
    return failure;
  }

  /** The ETag among the headers, to which the SDK does not leave its last quote. */
  static String etag(Response<?> response) {
    return response.getHeaders().getValue(HttpHeaderName.ETAG) + "\"";
  }

  /** Asserts that a transaction failed at the operation with this index. */
  static void rolledBack(int index, String code, Executable call) {
    TableTransactionFailedException failure = assertThrows(TableTransactionFailedException.class, call);
    assertEquals(code, failure.getValue().getErrorCode().toString());
    assertEquals(index, failure.getFailedTransactionActionIndex());
  }

  private static String code(HttpResponseException failure) {
    TableServiceError error = null;
    if (failure.getValue() instanceof TableServiceJsonError json) {
      error = TableUtils.toTableServiceError(json);
    } else if (failure.getValue() instanceof TableServiceError known) {
      error = known;
    }
    if (error != null && error.getErrorCode() != null) {
      return error.getErrorCode().toString();
    }
    return header(failure.getResponse(), "x-ms-error-code");
  }

  static String header(HttpResponse response, String name) {
    return response.getHeaderValue(HttpHeaderName.fromString(name));
  }

  private Clients() {}
}
