package tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static tests.Clients.entity;
import static tests.Clients.refused;

import com.microsoft.azure.storage.ResultContinuation;
import com.microsoft.azure.storage.ResultSegment;
import com.microsoft.azure.storage.table.CloudTable;
import com.microsoft.azure.storage.table.TableOperation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TablesTest {
  @RegisterExtension final Tables tables = new Tables();

  @Test
  @DisplayName("CreateTable: once")
  void create() throws Exception {
    CloudTable table = tables.create();
    assertTrue(table.exists());
    assertFalse(table.createIfNotExists());
    refused(409, "TableAlreadyExists", table::create);
  }

  @Test
  @DisplayName("QueryTables: by prefix")
  void list() throws Exception {
    CloudTable table = tables.create();
    List<String> names = new ArrayList<>();
    Clients.service().listTables(table.getName()).forEach(names::add);
    assertEquals(List.of(table.getName()), names);
  }

  @Test
  @DisplayName("QueryTables: in pages")
  void pages() throws Exception {
    CloudTable one = tables.create();
    CloudTable two = tables.create();
    List<String> names = new ArrayList<>();
    ResultContinuation next = null;
    do {
      ResultSegment<String> page = Clients.service().listTablesSegmented("OldJava", 1, next, null, null);
      names.addAll(page.getResults());
      next = page.getContinuationToken();
    } while (next != null);
    assertTrue(names.containsAll(List.of(one.getName(), two.getName())), names.toString());
    assertEquals(names.stream().distinct().toList(), names);
  }

  @Test
  @DisplayName("DeleteTable: and again")
  void delete() throws Exception {
    CloudTable table = tables.create();
    table.execute(TableOperation.insert(entity("r")));
    table.delete();
    assertFalse(table.exists());
    assertFalse(table.deleteIfExists());
    refused(404, "ResourceNotFound", table::delete);
    table.create();
    assertNull(Clients.read(table, "r"));
  }
}
