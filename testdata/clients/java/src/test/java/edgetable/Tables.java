package edgetable;

import com.azure.data.tables.TableClient;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Tables for the tests of one class, deleted after the last of them. */
final class Tables implements AfterAllCallback {
  private final List<String> names = new ArrayList<>();

  /** A name for a table that the test makes itself. */
  synchronized String name() {
    names.add(Clients.newName());
    return names.get(names.size() - 1);
  }

  TableClient create() {
    TableClient table = Clients.table(name());
    table.createTable();
    return table;
  }

  @Override
  public void afterAll(ExtensionContext context) {
    names.forEach(name -> Clients.service().deleteTable(name)); // the SDK passes over a 404 here
  }
}
