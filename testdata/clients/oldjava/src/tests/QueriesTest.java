package tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static tests.Clients.entity;
import static tests.Clients.names;
import static tests.Clients.refused;
import static tests.Clients.rows;
import static tests.Clients.where;

import com.microsoft.azure.storage.ResultContinuation;
import com.microsoft.azure.storage.ResultSegment;
import com.microsoft.azure.storage.table.CloudTable;
import com.microsoft.azure.storage.table.DynamicTableEntity;
import com.microsoft.azure.storage.table.EntityProperty;
import com.microsoft.azure.storage.table.TableBatchOperation;
import com.microsoft.azure.storage.table.TableQuery;
import com.microsoft.azure.storage.table.TableQuery.Operators;
import com.microsoft.azure.storage.table.TableQuery.QueryComparisons;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class QueriesTest {
  @RegisterExtension final Tables tables = new Tables();

  /** A table with so many entities of one partition. */
  private CloudTable filled(int count) throws Exception {
    CloudTable table = tables.create();
    for (int from = 0; from < count; from += 100) {
      TableBatchOperation batch = new TableBatchOperation();
      for (int n = from; n < Math.min(from + 100, count); n++) {
        batch.insert(entity("%04d".formatted(n), "N", n, "Name", "n & " + n, "Big", new EntityProperty((long) n),
            "Half", new EntityProperty(n / 2.0), "When", new EntityProperty(new Date(n)),
            "Bytes", new EntityProperty(new byte[] {(byte) n})));
      }
      table.execute(batch);
    }
    return table;
  }

  private static List<String> numbers(int from, int to) {
    return IntStream.range(from, to).mapToObj("%04d"::formatted).toList();
  }

  @Test
  @DisplayName("QueryEntities: filters as the library writes them")
  void filters() throws Exception {
    CloudTable table = filled(10);
    for (String filter : List.of(
        TableQuery.generateFilterCondition("RowKey", QueryComparisons.EQUAL, "0003"),
        TableQuery.generateFilterCondition("N", QueryComparisons.EQUAL, 3),
        TableQuery.generateFilterCondition("Big", QueryComparisons.EQUAL, 3L),
        TableQuery.generateFilterCondition("Half", QueryComparisons.EQUAL, 1.5),
        TableQuery.generateFilterCondition("Name", QueryComparisons.EQUAL, "n & 3"),
        TableQuery.generateFilterCondition("When", QueryComparisons.EQUAL, new Date(3)),
        TableQuery.generateFilterCondition("Bytes", QueryComparisons.EQUAL, new byte[] {3}),
        TableQuery.combineFilters(
            TableQuery.generateFilterCondition("N", QueryComparisons.GREATER_THAN, 2), Operators.AND,
            TableQuery.generateFilterCondition("N", QueryComparisons.LESS_THAN, 4)))) {
      assertEquals(List.of("0003"), rows(table.execute(where(filter))), filter);
    }
    assertEquals(List.of(), rows(table.execute(where("N gt 10"))));
  }

  @Test
  @DisplayName("QueryEntities: a filter that is none")
  void refusedFilter() throws Exception {
    CloudTable table = filled(1);
    refused(400, "InvalidInput", () -> table.executeSegmented(where("N eq"), null));
    refused(404, "TableNotFound", () -> Clients.missing().executeSegmented(where("N eq 1"), null));
  }

  @Test
  @DisplayName("QueryEntities: an iteration reports what is wrong")
  void iteration() throws Exception {
    CloudTable table = filled(1);
    NoSuchElementException wrapped =
        Assertions.assertThrows(NoSuchElementException.class, () -> rows(table.execute(where("N eq"))));
    refused(400, "InvalidInput", () -> {
      throw wrapped.getCause();
    });
  }

  @Test
  @DisplayName("QueryEntities: some properties")
  void select() throws Exception {
    CloudTable table = filled(1);
    TableQuery<DynamicTableEntity> query = where("RowKey eq '0000'").select(new String[] {"N", "Name"});
    table.execute(query).forEach(entity -> assertEquals(List.of("N", "Name"), names(entity)));
    assertEquals(List.of("0000"), rows(table.execute(query)));
  }

  @Test
  @DisplayName("QueryEntities: pages of seven")
  void pages() throws Exception {
    CloudTable table = filled(20);
    TableQuery<DynamicTableEntity> query = TableQuery.from(DynamicTableEntity.class).take(7);
    List<String> found = new ArrayList<>();
    ResultContinuation next = null;
    do {
      ResultSegment<DynamicTableEntity> page = table.executeSegmented(query, next);
      assertTrue(page.getLength() <= 7);
      found.addAll(rows(page.getResults()));
      next = page.getContinuationToken();
    } while (next != null);
    assertEquals(numbers(0, 20), found);
  }

  @Test
  @DisplayName("QueryEntities: more than a page")
  void many() throws Exception {
    assertEquals(numbers(0, 1100), rows(filled(1100)));
  }
}
