package tests;

import com.microsoft.azure.storage.table.CloudTable;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Makes tables that go away with the test. */
final class Tables implements AfterEachCallback {
  private final List<CloudTable> made = new ArrayList<>();

  CloudTable create() throws Exception {
    CloudTable table = Clients.missing();
    table.create();
    made.add(table);
    return table;
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    for (CloudTable table : made) {
      table.deleteIfExists();
    }
    made.clear();
  }
}
