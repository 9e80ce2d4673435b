package edgetable;

import static edgetable.Clients.entity;
import static edgetable.Clients.numbers;
import static edgetable.Clients.own;
import static edgetable.Clients.refused;
import static edgetable.Clients.rows;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.azure.core.http.rest.PagedResponse;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QueriesTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static TableClient few;
  private static TableClient many;

  @BeforeAll
  static void fill() {
    few = tables.create();
    few.createEntity(fruit("a", 1, "apple", true, "2020-01-01T00:00:00Z"));
    few.createEntity(fruit("b", 2, "banana", false, "2021-01-01T00:00:00.0000001Z"));
    few.createEntity(fruit("c", 3, "O'Brien's  pear", true, "2022-01-01T00:00:00Z"));
    few.createEntity(entity("d"));

    many = tables.create();
    for (int start = 0; start < 1100; start += 100) {
      many.submitTransaction(numbers(start, start + 100).stream()
          .map(row -> new TableTransactionAction(
              TableTransactionActionType.CREATE, entity(row, "N", Integer.valueOf(row))))
          .toList());
    }
  }

  private static TableEntity fruit(String row, int n, String text, boolean ripe, String when) {
    return entity(row,
        "Int", n, "Long", (1L << 53) + n, "Real", n - 0.5, "Whole", (double) n, "Text", text, "Ripe", ripe,
        "When", OffsetDateTime.parse(when), "Id", new UUID(0, n), "Bytes", new byte[] {10, (byte) n}, "_x", "under");
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("QueryEntities: filter")
  @CsvSource(delimiter = '|', quoteCharacter = '"', emptyValue = "", value = {
    "Int eq 2 | b",
    "Int ne 2 | ac",
    "Int gt 2 | c",
    "Int ge 2 | bc",
    "Int lt 2 | a",
    "Int le 2 | ab",
    "2 lt Int | c",
    "Long eq 9007199254740993L | a",
    "Long gt 9007199254740993L | bc",
    "Real eq 1.5 | b",
    "Real gt 1 | bc",
    "Whole eq 2.0 | b",
    "Text eq 'O''Brien''s  pear' | c",
    "Text ge 'a' and Text lt 'b' | a",
    "Ripe eq true | ac",
    "Ripe ne true | b",
    "When eq datetime'2021-01-01T00:00:00.0000001Z' | b",
    "When gt datetime'2021-01-01T00:00:00Z' | bc",
    "Timestamp gt datetime'2000-01-01T00:00:00Z' | abcd",
    "Id eq guid'00000000-0000-0000-0000-000000000003' | c",
    "Bytes eq X'0a02' | b",
    "Bytes eq binary'0A03' | c",
    "_x eq 'under' | abc",
    "Missing ne 'x' | \"\"",
    "not (Int eq 2) | acd",
    "Int eq 1 or Int eq 2 and Ripe eq true | a",
    "(Int eq 1 or Int eq 2) and Ripe eq false | b",
    "PartitionKey eq 'p' and RowKey gt 'a' and RowKey le 'c' | bc",
    "PartitionKey eq 'p' and RowKey eq 'nobody' | \"\"",
  })
  void filter(String filter, String expected) {
    assertEquals(expected, String.join("", rows(few.listEntities(options(filter), null, null))));
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("Errors: a filter that is none:")
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
    "aaa bbb ccc | 400 | InvalidInput",
    "(Int eq 1 | 400 | InvalidInput",
    "Int eq 1 AND Int eq 2 | 400 | InvalidInput",
    "'abc' | 400 | InvalidInput",
    "startswith(Text,'a') | 501 | NotImplemented",
  })
  void badFilter(String filter, int status, String code) {
    refused(status, code, () -> rows(few.listEntities(options(filter), null, null)));
  }

  @Test
  @DisplayName("QueryEntities: in the order of their keys, with metadata")
  void everything() {
    List<TableEntity> read = new ArrayList<>();
    few.listEntities().forEach(read::add);
    assertEquals(List.of("a", "b", "c", "d"), rows(read));
    assertEquals(10, own(read.get(0)).size());
    for (TableEntity entity : read) {
      assertEquals(few.getEntity("p", entity.getRowKey()).getProperties().get("odata.etag"), entity.getETag());
    }
  }

  @Test
  @DisplayName("QueryEntities: select")
  void select() {
    assertEquals(Map.of("Int", 1), selected("RowKey", "Int"));
    Map<String, Object> absent = new HashMap<>();
    absent.put("Missing", null);
    absent.put("int", null);
    assertEquals(absent, selected("Missing", "int"));
    assertEquals(10, selected("*").size());
  }

  private static Map<String, Object> selected(String... names) {
    var options = options("RowKey eq 'a'").setSelect(List.of(names));
    return own(few.listEntities(options, null, null).iterator().next());
  }

  @Test
  @DisplayName("QueryEntities: a table that is not there")
  void nowhere() {
    refused(404, "TableNotFound", () -> rows(Clients.table(Clients.newName()).listEntities()));
  }

  @Test
  @DisplayName("QueryEntities: more than a page")
  void pages() {
    assertEquals(numbers(0, 1100), rows(many.listEntities()));
    assertEquals(List.of(1000, 100), pages(new ListEntitiesOptions()).stream().map(List::size).toList());
  }

  @ParameterizedTest(name = "{0}")
  @DisplayName("QueryEntities: pages of")
  @ValueSource(ints = {400, 550})
  void pagesOf(int size) {
    List<List<String>> pages = pages(new ListEntitiesOptions().setTop(size));
    assertEquals(size == 400 ? List.of(400, 400, 300) : List.of(550, 550), pages.stream().map(List::size).toList());
    assertEquals(numbers(0, 1100), pages.stream().flatMap(List::stream).toList());
  }

  @Test
  @DisplayName("QueryEntities: filtered pages")
  void filteredPages() {
    assertEquals(
        List.of(numbers(1000, 1030), numbers(1030, 1060), numbers(1060, 1070)),
        pages(options("N ge 1000 and N lt 1070").setTop(30)));
  }

  @Test
  @DisplayName("QueryEntities: on from a token whose entity is gone")
  void resume() {
    var options = options("N ge 500 and N lt 530").setTop(10);
    PagedResponse<TableEntity> first = many.listEntities(options, null, null).iterableByPage().iterator().next();
    assertEquals(numbers(500, 510), rows(first.getElements()));
    assertNotNull(first.getContinuationToken());
    many.deleteEntity("p", "0510");
    try {
      List<String> rest = new ArrayList<>();
      String last = "none";
      for (var page : many.listEntities(options, null, null).iterableByPage(first.getContinuationToken())) {
        rest.addAll(rows(page.getElements()));
        last = page.getContinuationToken();
      }
      assertEquals(numbers(511, 530), rest);
      assertNull(last);
    } finally {
      many.createEntity(entity("0510", "N", 510));
    }
  }

  @Test
  @DisplayName("Errors: a page of 1001")
  void pageTooLarge() {
    refused(400, "InvalidInput", () -> rows(many.listEntities(new ListEntitiesOptions().setTop(1001), null, null)));
  }

  private static ListEntitiesOptions options(String filter) {
    return new ListEntitiesOptions().setFilter(filter);
  }

  private static List<List<String>> pages(ListEntitiesOptions options) {
    List<List<String>> pages = new ArrayList<>();
    many.listEntities(options, null, null).iterableByPage().forEach(page -> pages.add(rows(page.getElements())));
    return pages;
  }
}
