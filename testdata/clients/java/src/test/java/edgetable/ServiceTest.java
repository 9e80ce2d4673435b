package edgetable;

import static edgetable.Clients.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Named.named;

import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpHeaders;
import com.azure.core.http.policy.HttpPipelinePolicy;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.models.ListTablesOptions;
import com.azure.data.tables.models.TableServiceCorsRule;
import com.azure.data.tables.models.TableServiceGeoReplicationStatus;
import com.azure.data.tables.models.TableServiceLogging;
import com.azure.data.tables.models.TableServiceMetrics;
import com.azure.data.tables.models.TableServiceProperties;
import com.azure.data.tables.models.TableServiceRetentionPolicy;
import com.azure.xml.XmlWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.stream.XMLStreamException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Properties of the account, CORS among them, and its stats. The properties are put back at the end. */
class ServiceTest {
  private static final TableServiceClient service = Clients.service();
  private static TableServiceProperties original;

  @BeforeAll
  static void remember() {
    original = service.getProperties();
  }

  @AfterAll
  static void putBack() {
    if (original.getCorsRules() == null) {
      original.setCorsRules(List.of()); // absent rules would stay as they are
    }
    service.setProperties(original);
  }

  private static TableServiceRetentionPolicy days(Integer days) {
    return new TableServiceRetentionPolicy().setEnabled(days != null).setDaysToRetain(days);
  }

  private static TableServiceMetrics metrics(Boolean apis, Integer days) {
    return new TableServiceMetrics()
        .setVersion("1.0").setEnabled(apis != null).setIncludeApis(apis).setRetentionPolicy(days(days));
  }

  private static TableServiceCorsRule rule(String origins, String methods, String headers) {
    return new TableServiceCorsRule().setAllowedOrigins(origins).setAllowedMethods(methods)
        .setAllowedHeaders(headers).setExposedHeaders("x-ms-*").setMaxAgeInSeconds(500);
  }

  private static TableServiceProperties properties() {
    return new TableServiceProperties()
        .setLogging(new TableServiceLogging().setAnalyticsVersion("1.0")
            .setDeleteLogged(true).setReadLogged(false).setWriteLogged(true).setRetentionPolicy(days(7)))
        .setHourMetrics(metrics(true, 5))
        .setMinuteMetrics(metrics(null, null))
        .setCorsRules(List.of(rule("http://www.example.com", "GET,PUT", "x-ms-meta-abc")));
  }

  /** The document the SDK writes of them, which compares where the SDK's classes do not. */
  private static String text(TableServiceProperties properties) {
    var document = new ByteArrayOutputStream();
    try (XmlWriter writer = XmlWriter.toStream(document)) {
      properties.toXml(writer).flush();
    } catch (XMLStreamException e) {
      throw new AssertionError(e);
    }
    return document.toString(StandardCharsets.UTF_8);
  }

  @Test
  @DisplayName("ServiceProperties: has every part from the start")
  void defaults() {
    assertEquals("1.0", original.getLogging().getAnalyticsVersion());
    assertEquals("1.0", original.getHourMetrics().getVersion());
    assertEquals("1.0", original.getMinuteMetrics().getVersion());
  }

  @Test
  @DisplayName("ServiceProperties: what was set is what is read")
  void roundTrip() {
    assertEquals(202, service.setPropertiesWithResponse(properties(), null, null).getStatusCode());
    assertEquals(text(properties()), text(service.getProperties()));
  }

  @Test
  @DisplayName("ServiceProperties: a part is set, the others stay")
  void part() {
    service.setProperties(properties());
    var minutes = metrics(false, 365);
    service.setProperties(new TableServiceProperties().setMinuteMetrics(minutes));
    assertEquals(text(properties().setMinuteMetrics(minutes)), text(service.getProperties()));
    service.setProperties(new TableServiceProperties().setCorsRules(List.of()));
    List<TableServiceCorsRule> rules = service.getProperties().getCorsRules();
    assertTrue(rules == null || rules.isEmpty());
    assertEquals(365, service.getProperties().getMinuteMetrics().getTableServiceRetentionPolicy().getDaysToRetain());
  }

  static Stream<Named<TableServiceProperties>> refusals() {
    return Stream.of(
        named("366 days", properties().setHourMetrics(metrics(true, 366))),
        named("another version", properties().setHourMetrics(metrics(true, 5).setVersion("7.0"))),
        named("six CORS rules", properties().setCorsRules(Collections.nCopies(6, rule("*", "GET", "")))),
        named("a CORS rule for a method that is none", properties().setCorsRules(List.of(rule("*", "FETCH", "")))),
        named("a CORS rule without origins", properties().setCorsRules(List.of(rule("", "GET", "")))));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("ServiceProperties: refused for")
  @MethodSource("refusals")
  void refusals(TableServiceProperties broken) {
    service.setProperties(properties());
    refused(400, "InvalidXmlDocument", () -> service.setProperties(broken));
    assertEquals(text(properties()), text(service.getProperties()));
  }

  private static void allow(TableServiceCorsRule... rules) {
    service.setProperties(new TableServiceProperties().setCorsRules(List.of(rules)));
  }

  @ParameterizedTest(name = "{0} {1} {2}: {3}")
  @DisplayName("CORS: a preflight from")
  @CsvSource(nullValues = "-", value = {
    "http://www.example.com, GET, -, 200",
    "http://www.example.com, GET, x-ms-meta-abc, 200",
    "http://www.example.com, GET, X-MS-Meta-ABC, 200",
    "http://www.example.com, GET, 'x-ms-meta-abc, x-ms-date', 403",
    "http://www.example.com, DELETE, -, 403",
    "http://other.example.com, GET, -, 403",
    "http://other.example.com, MERGE, 'x-ms-date, authorization', 200",
    "HTTP://WWW.EXAMPLE.COM, GET, -, 403",
  })
  void preflight(String origin, String method, String headers, int status) throws Exception {
    allow(rule("http://www.example.com", "GET,PUT", "x-ms-meta-abc"), rule("*", "MERGE", "*"));
    HttpResponse<String> answer = preflightTo("/anything", origin, method, headers);
    assertEquals(status, answer.statusCode(), answer.body());
    if (status == 200) {
      assertEquals(method, answer.headers().firstValue("Access-Control-Allow-Methods").orElse(null));
      assertEquals(headers, answer.headers().firstValue("Access-Control-Allow-Headers").orElse(null));
      assertEquals("500", answer.headers().firstValue("Access-Control-Max-Age").orElse(null));
      assertTrue(List.of(origin, "*").contains(answer.headers().firstValue("Access-Control-Allow-Origin").orElse(null)));
    } else {
      assertEquals("CorsPreflightFailure", answer.headers().firstValue("x-ms-error-code").orElse(null));
      assertTrue(answer.headers().firstValue("Access-Control-Allow-Origin").isEmpty());
    }
  }

  @Test
  @DisplayName("CORS: a preflight without rules, or without an origin")
  void noPreflight() throws Exception {
    allow();
    assertEquals(403, preflightTo("/Tables", "http://www.example.com", "GET", null).statusCode());
    assertEquals(400, preflightTo("/Tables", null, "GET", null).statusCode());
  }

  private static HttpResponse<String> preflightTo(String path, String origin, String method, String headers)
      throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(Clients.endpoint() + path))
        .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
        .header("Access-Control-Request-Method", method);
    if (origin != null) {
      request.header("Origin", origin);
    }
    if (headers != null) {
      request.header("Access-Control-Request-Headers", headers);
    }
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
        .send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  @DisplayName("CORS: a reply to a page of an allowed origin, and of any other")
  void actual() {
    allow(rule("http://www.example.com", "GET,PUT", "*"));
    HttpHeaders friend = from("http://www.example.com");
    assertEquals("http://www.example.com", friend.getValue(HttpHeaderName.ACCESS_CONTROL_ALLOW_ORIGIN));
    assertEquals("true", friend.getValue(HttpHeaderName.ACCESS_CONTROL_ALLOW_CREDENTIALS));
    assertNotNull(friend.getValue(HttpHeaderName.ACCESS_CONTROL_EXPOSE_HEADERS));
    assertEquals("Origin", friend.getValue(HttpHeaderName.VARY));
    HttpHeaders stranger = from("http://evil.example.com");
    assertEquals(null, stranger.getValue(HttpHeaderName.ACCESS_CONTROL_ALLOW_ORIGIN));
    assertEquals("Origin", stranger.getValue(HttpHeaderName.VARY));
    allow(rule("*", "GET", ""));
    assertEquals("*", from("http://evil.example.com").getValue(HttpHeaderName.ACCESS_CONTROL_ALLOW_ORIGIN));
  }

  private static HttpHeaders from(String origin) {
    HttpPipelinePolicy page = (context, next) -> {
      context.getHttpRequest().setHeader(HttpHeaderName.ORIGIN, origin);
      return next.process();
    };
    TableServiceClient client = Clients.serviceBuilder().addPolicy(page).buildClient();
    return client.listTables(new ListTablesOptions().setTop(1), null, null).iterableByPage().iterator().next().getHeaders();
  }

  @Test
  @DisplayName("ServiceStats: at the secondary address")
  void stats() {
    var stats = secondary().getStatistics().getGeoReplication();
    assertEquals(TableServiceGeoReplicationStatus.LIVE, stats.getStatus());
    assertTrue(Duration.between(stats.getLastSyncTime(), OffsetDateTime.now()).abs().toHours() < 1);
  }

  @Test
  @DisplayName("ServiceStats: not at the primary address")
  void statsOfPrimary() {
    refused(400, "InvalidQueryParameterValue", service::getStatistics);
  }

  @Test
  @DisplayName("ServiceProperties: read at the secondary address too, but not set there")
  void propertiesOfSecondary() {
    service.setProperties(properties());
    assertEquals(text(properties()), text(secondary().getProperties()));
    refused(403, "InsufficientAccountPermissions", () -> secondary().setProperties(properties()));
  }

  private static TableServiceClient secondary() {
    String account = Clients.setting("AccountName");
    return Clients.serviceAt(Clients.endpoint().replaceFirst(account + "$", account + "-secondary"));
  }
}
