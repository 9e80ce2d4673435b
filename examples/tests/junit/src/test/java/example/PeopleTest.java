package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableServiceClientBuilder;
import com.azure.data.tables.models.TableEntity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PeopleTest {
  @RegisterExtension static final Edgetable edgetable = new Edgetable();

  @Test
  void insert() {
    TableClient people = new TableServiceClientBuilder().connectionString(edgetable.connectionString()).buildClient().createTable("People");
    people.createEntity(new TableEntity("a", "1").addProperty("Name", "Ada"));
    assertEquals("Ada", people.getEntity("a", "1").getProperty("Name"));
  }
}
