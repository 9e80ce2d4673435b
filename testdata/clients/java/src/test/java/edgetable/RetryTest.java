package edgetable;

import static edgetable.Clients.entity;
import static edgetable.Clients.own;
import static edgetable.Clients.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableClientBuilder;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableEntityUpdateMode;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the SDK's retries lead to when the deed was done but its reply lost. */
class RetryTest {
  @RegisterExtension static final Tables tables = new Tables();
  private static String table;

  @BeforeAll
  static void create() {
    table = tables.create().getTableName();
  }

  /** A relay to the server that hangs up instead of the first reply, and a client that goes by way of it. */
  private static final class LossyRelay implements AutoCloseable {
    private final URI server = URI.create(Clients.endpoint());
    private final ServerSocket listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
    private final AtomicBoolean lost = new AtomicBoolean();
    private final AtomicInteger requests = new AtomicInteger();

    LossyRelay() throws IOException {
      start(() -> {
        while (true) {
          Socket client = listener.accept();
          Socket there = new Socket(server.getHost(), server.getPort());
          start(() -> pump(client, there, false));
          start(() -> pump(there, client, true));
        }
      });
    }

    TableClient client() {
      return new TableClientBuilder()
          .endpoint("http://127.0.0.1:" + listener.getLocalPort() + server.getPath())
          .credential(new AzureNamedKeyCredential(Clients.setting("AccountName"), Clients.setting("AccountKey")))
          .retryOptions(new RetryOptions(new FixedDelayOptions(3, Duration.ofMillis(1))))
          .addPolicy((context, next) -> { // below the retries, so it sees each attempt
            requests.incrementAndGet();
            return next.process();
          })
          .tableName(table)
          .buildClient();
    }

    private void pump(Socket from, Socket to, boolean replies) throws IOException {
      try (from; to) {
        InputStream in = from.getInputStream();
        byte[] buffer = new byte[16384];
        for (int n; (n = in.read(buffer)) >= 0; ) {
          if (replies && lost.compareAndSet(false, true)) {
            to.setSoLinger(true, 0); // a reset, not an end
            return;
          }
          to.getOutputStream().write(buffer, 0, n);
        }
      }
    }

    private interface Step {
      void run() throws IOException;
    }

    private static void start(Step step) {
      Thread thread = new Thread(() -> {
        try {
          step.run();
        } catch (IOException e) {
          // One side is gone, and with it this connection or the relay.
        }
      });
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public void close() throws IOException {
      listener.close();
    }
  }

  @Test
  @DisplayName("Retry: an upsert whose reply was lost is sent again")
  void upsert() throws IOException {
    try (LossyRelay relay = new LossyRelay()) {
      relay.client().upsertEntity(entity("upsert", "A", 1));
      assertEquals(2, relay.requests.get());
    }
    assertEquals(Map.of("A", 1), own(Clients.table(table).getEntity("p", "upsert")));
  }

  @Test
  @DisplayName("Retry: an insert whose reply was lost finds its own entity")
  void insert() throws IOException {
    try (LossyRelay relay = new LossyRelay()) {
      TableClient client = relay.client();
      refused(409, "EntityAlreadyExists", () -> client.createEntity(entity("insert", "A", 1)));
      assertEquals(2, relay.requests.get());
    }
    assertEquals(Map.of("A", 1), own(Clients.table(table).getEntity("p", "insert")));
  }

  @Test
  @DisplayName("Retry: an update whose reply was lost is not done twice thanks to its condition")
  void update() throws IOException {
    TableClient direct = Clients.table(table);
    direct.createEntity(entity("update", "A", 1));
    TableEntity read = direct.getEntity("p", "update").addProperty("A", 2);
    try (LossyRelay relay = new LossyRelay()) {
      TableClient client = relay.client();
      refused(412, "UpdateConditionNotSatisfied",
          () -> client.updateEntityWithResponse(read, TableEntityUpdateMode.REPLACE, true, null, null));
      assertEquals(2, relay.requests.get());
    }
    assertEquals(Map.of("A", 2), own(direct.getEntity("p", "update")));
  }

  @Test
  @DisplayName("Retry: a transaction whose reply was lost is sent again")
  void transaction() throws IOException {
    try (LossyRelay relay = new LossyRelay()) {
      var upsert = new TableTransactionAction(TableTransactionActionType.UPSERT_MERGE, entity("transaction", "A", 1));
      var result = relay.client().submitTransaction(List.of(upsert));
      assertEquals(204, result.getTransactionActionResponses().get(0).getStatusCode());
      assertEquals(2, relay.requests.get());
    }
    assertEquals(Map.of("A", 1), own(Clients.table(table).getEntity("p", "transaction")));
  }

  @Test
  @DisplayName("Retry: refusals are final")
  void refusals() throws IOException {
    try (LossyRelay relay = new LossyRelay()) {
      relay.lost.set(true); // none is lost here
      TableClient client = relay.client();
      refused(404, "ResourceNotFound", () -> client.getEntity("p", "missing"));
      refused(400, "InvalidInput", () -> client.createEntity(entity("bad", "A", "none", "A@odata.type", "Edm.Guid")));
      assertEquals(2, relay.requests.get());
    }
  }
}
