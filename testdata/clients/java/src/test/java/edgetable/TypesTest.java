package edgetable;

import static edgetable.Clients.entity;
import static edgetable.Clients.own;
import static edgetable.Clients.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Named.named;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TypesTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static final String GUID = "c9da6455-213d-42c9-9a79-3e9149a57833";
  private static TableClient table;

  @BeforeAll
  static void create() {
    table = tables.create();
  }

  static Stream<Named<Object>> values() {
    byte[] bytes = new byte[256];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    return Stream.of(
        named("Int32 least", Integer.MIN_VALUE),
        named("Int32 greatest", Integer.MAX_VALUE),
        named("Int64 least", Long.MIN_VALUE),
        named("Int64 greatest", Long.MAX_VALUE),
        named("Int64 beyond the doubles", (1L << 53) + 1),
        named("Int64 small", 5L),
        named("Boolean true", true),
        named("Boolean false", false),
        named("Double", 1.5),
        named("Double whole", 5.0),
        named("Double zero", 0.0),
        named("Double tenth", 0.1),
        named("Double least", Double.MIN_VALUE),
        named("Double greatest", Double.MAX_VALUE),
        named("Double negative greatest", -Double.MAX_VALUE),
        named("Double beyond Int64", 1e20),
        named("DateTime tick", OffsetDateTime.parse("2020-02-29T12:34:56.0000001Z")),
        named("DateTime first", OffsetDateTime.parse("1601-01-01T00:00:00Z")),
        named("DateTime last", OffsetDateTime.parse("9999-12-31T23:59:59.9999999Z")),
        named("Guid", UUID.fromString(GUID)),
        named("Binary", bytes),
        named("Binary empty", new byte[0]),
        named("Binary largest", new byte[65536]),
        named("String empty", ""),
        named("String blanks", "  x  "),
        named("String control characters", "tab\t cr\r lf\n quote\" backslash\\ slash/ bell\7"),
        named("String unicode", "Zażółć gęślą jaźń — 漢字 — عربى"),
        named("String emoji", "👩‍👩‍👧‍👦 🏳️‍🌈 \udbff\udffd"),
        named("String like a date", "2020-02-29T12:34:56Z"),
        named("String largest", "漢".repeat(32768)));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("InsertEntity: round trip of")
  @MethodSource("values")
  void roundTrip(Object value) {
    String row = UUID.randomUUID().toString();
    table.createEntity(entity(row, "V", value));
    assertSame(value, own(table.getEntity("p", row)).get("V"));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("QueryEntities: round trip of")
  @MethodSource("values")
  void listed(Object value) {
    String row = UUID.randomUUID().toString();
    table.upsertEntity(entity(row, "V", value));
    var options = new ListEntitiesOptions().setFilter("RowKey eq '" + row + "'");
    TableEntity read = table.listEntities(options, null, null).iterator().next();
    assertSame(value, own(read).get("V"));
  }

  private static void assertSame(Object value, Object read) {
    assertEquals(value.getClass(), read.getClass());
    if (value instanceof byte[] bytes) {
      assertArrayEquals(bytes, (byte[]) read);
    } else {
      assertEquals(value, read);
    }
  }

  static Stream<Arguments> times() {
    var instant = OffsetDateTime.parse("2020-02-29T12:34:56.123Z");
    return Stream.of(
        arguments(named("Instant", instant.toInstant()), instant),
        arguments(named("OffsetDateTime of another zone", OffsetDateTime.parse("2020-02-29T14:34:56.123+02:00")), instant),
        arguments(named("nanoseconds, which are rounded", Instant.parse("2020-02-29T12:34:56.123000099Z")), OffsetDateTime.parse("2020-02-29T12:34:56.1230001Z")),
        arguments(named("LocalDateTime, taken as UTC", LocalDateTime.parse("2020-02-29T12:34:56.123")), instant));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("InsertEntity: a time given as")
  @MethodSource("times")
  void times(Object given, OffsetDateTime expected) {
    String row = UUID.randomUUID().toString();
    table.createEntity(entity(row, "V", given));
    assertEquals(expected, own(table.getEntity("p", row)).get("V"));
  }

  static Stream<Arguments> typed() {
    return Stream.of(
        arguments(named("Double NaN", "NaN"), "Edm.Double", Double.NaN),
        arguments(named("Double Infinity", "Infinity"), "Edm.Double", Double.POSITIVE_INFINITY),
        arguments(named("Double -Infinity", "-Infinity"), "Edm.Double", Double.NEGATIVE_INFINITY),
        arguments(named("Double as text", "1.5"), "Edm.Double", 1.5),
        arguments(named("Int32 as text", "7"), "Edm.Int32", 7),
        arguments(named("Int64 as text", "-9007199254740993"), "Edm.Int64", -9007199254740993L),
        arguments(named("Boolean as text", "true"), "Edm.Boolean", true),
        arguments(named("Guid in capitals", GUID.toUpperCase()), "Edm.Guid", UUID.fromString(GUID)),
        arguments(named("String that looks like a number", "5"), "Edm.String", "5"));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("InsertEntity: with the type beside it:")
  @MethodSource("typed")
  void annotated(String sent, String type, Object expected) {
    String row = UUID.randomUUID().toString();
    table.createEntity(entity(row, "V", sent, "V@odata.type", type));
    assertSame(expected, own(table.getEntity("p", row)).get("V"));
  }

  @Test
  @DisplayName("InsertEntity: a null is not stored")
  void nulls() {
    table.createEntity(entity("null", "A", null, "B", 1));
    assertEquals(Map.of("B", 1), own(table.getEntity("p", "null")));
  }

  @Test
  @DisplayName("InsertEntity: names of properties")
  void names() {
    var entity = entity("names");
    for (String name : new String[] {"çñ", "Имя", "漢字", "_private", "Birthday", "birthday", "n".repeat(255)}) {
      entity.addProperty(name, "value of " + name);
    }
    table.createEntity(entity);
    assertEquals(own(entity), own(table.getEntity("p", "names")));
  }

  @Test
  @DisplayName("InsertEntity: as many and as large as allowed")
  void limits() {
    table.createEntity(many("252", 252, 1));
    table.createEntity(many("just below 1 MiB", 15, "x".repeat(32768)));
    assertEquals(252, own(table.getEntity("p", "252")).size());
  }

  static Stream<Arguments> refusals() {
    return Stream.of(
        arguments(named("a String of 32769 characters", entity("", "A", "x".repeat(32769))), 400, "PropertyValueTooLarge"),
        arguments(named("a Binary of 65537 bytes", entity("", "A", new byte[65537])), 400, "PropertyValueTooLarge"),
        arguments(named("253 properties", many("", 253, 1)), 400, "TooManyProperties"),
        arguments(named("above 1 MiB", many("", 16, "x".repeat(32768))), 400, "EntityTooLarge"),
        arguments(named("a name of 256 characters", entity("", "n".repeat(256), 1)), 400, "PropertyNameTooLong"),
        arguments(named("a name with a dash", entity("", "a-b", 1)), 400, "PropertyNameInvalid"),
        arguments(named("a date before 1601", entity("", "A", Instant.parse("1600-12-31T23:59:59Z"))), 400, "OutOfRangeInput"),
        arguments(named("a Guid that is none", entity("", "A", "none", "A@odata.type", "Edm.Guid")), 400, "InvalidInput"),
        arguments(named("an Int64 out of range", entity("", "A", "9223372036854775808", "A@odata.type", "Edm.Int64")), 400, "InvalidInput"),
        arguments(named("a list", entity("", "A", List.of(1, 2))), 400, "InvalidInput"),
        arguments(named("a request above 4 MiB", entity("", "A", "x".repeat(4 << 20))), 413, "RequestBodyTooLarge"));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("Errors: an entity is refused for")
  @MethodSource("refusals")
  void refusals(TableEntity entity, int status, String code) {
    refused(status, code, () -> table.createEntity(entity));
    refused(404, "ResourceNotFound", () -> table.getEntity("p", ""));
  }

  private static TableEntity many(String row, int count, Object value) {
    TableEntity entity = entity(row);
    for (int i = 0; i < count; i++) {
      entity.addProperty("P" + i, value);
    }
    return entity;
  }
}
