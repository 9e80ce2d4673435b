package edgetable;

import static edgetable.Clients.entity;
import static edgetable.Clients.own;
import static edgetable.Clients.refused;
import static edgetable.Clients.rows;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.core.exception.HttpResponseException;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableClientBuilder;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program reads on at a secondary on another machine while the primary is dead. The SDK sends no request to a secondary, though a
 * connection string may name one: so the program has a client for each, and reads by both.
 */
class FailoverTest {
  private static final String KEY = Base64.getEncoder().encodeToString(new SecureRandom().generateSeed(32));

  /** A server on a data directory. */
  private record Server(Process process, String endpoint) implements AutoCloseable {
    static Server start(Object... flags) throws IOException, InterruptedException {
      List<String> command = new ArrayList<>(List.of(binary(), "serve", "--listen", "127.0.0.1:0", "--log-level", "error"));
      for (Object flag : flags) {
        command.add(flag.toString());
      }
      ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
      builder.environment().put("EDGETABLE_ACCOUNTS", "own:" + KEY);
      Process process = builder.start();
      BufferedReader out = process.inputReader();
      String endpoint = null;
      for (String line; (line = out.readLine()) != null; ) {
        if (line.strip().startsWith("endpoint ")) {
          endpoint = line.strip().substring("endpoint ".length()).strip();
        }
        if (line.equals("ready")) {
          return new Server(process, endpoint);
        }
      }
      throw new IllegalStateException("the server with " + command + " has ended");
    }

    /** The program that EDGETABLE_BINARY names; without it, one built from this repository. */
    private static String binary() throws IOException, InterruptedException {
      String given = System.getenv("EDGETABLE_BINARY");
      if (given != null) {
        return given;
      }
      Path built = Files.createTempDirectory("clients").resolve("edgetable");
      assertEquals(0, new ProcessBuilder("go", "build", "-o", built.toString(), "./functions/edgetable")
          .directory(new File("../../..")).inheritIO().start().waitFor());
      return built.toString();
    }

    /** A client that does not repeat requests. */
    TableClient orders(String suffix) {
      return new TableClientBuilder()
          .endpoint(endpoint + suffix)
          .credential(new AzureNamedKeyCredential("own", KEY))
          .retryOptions(Clients.once())
          .tableName("orders")
          .buildClient();
    }

    void kill() {
      process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
      kill();
    }
  }

  /** Reads at the primary, and at the secondary if that does not answer. An answer that refuses is an answer. */
  private static <T> T either(Function<TableClient, T> read, TableClient primary, TableClient secondary) {
    try {
      return read.apply(primary);
    } catch (RuntimeException e) {
      if (e instanceof HttpResponseException answer && answer.getResponse().getStatusCode() < 500) {
        throw e;
      }
      return read.apply(secondary);
    }
  }

  private static boolean has(TableClient table, List<String> rows) {
    try {
      return rows(table.listEntities()).equals(rows);
    } catch (HttpResponseException e) {
      return false;
    }
  }

  @Test
  @DisplayName("Retry: reads go on at the secondary while the primary is dead")
  void secondary(@TempDir Path folder) throws Exception {
    Path place = folder.resolve("place");
    try (Server one = Server.start("--data", folder.resolve("one"), "--backup-to", place, "--backup-log", "50ms");
        Server two = Server.start("--data", folder.resolve("two"), "--secondary-of", place, "--secondary-max-lag", "6s")) {
      TableClient primary = one.orders("");
      TableClient secondary = two.orders("-secondary");
      primary.createTable();
      primary.createEntity(entity("1", "Name", "Ada"));
      primary.createEntity(entity("2", "Name", "Grace"));
      for (Instant end = Instant.now().plus(Duration.ofMinutes(2)); !has(secondary, List.of("1", "2")); Thread.sleep(50)) {
        if (Instant.now().isAfter(end)) {
          throw new AssertionError("the secondary did not come so far");
        }
      }
      one.kill();

      assertEquals(Map.of("Name", "Ada"), own(either(table -> table.getEntity("p", "1"), primary, secondary)));
      assertEquals(List.of("1", "2"), either(table -> rows(table.listEntities()), primary, secondary));
      refused(404, "ResourceNotFound", () -> either(table -> table.getEntity("p", "none"), primary, secondary));
      refused(403, "InsufficientAccountPermissions", () -> secondary.createEntity(entity("3")));
      assertThrows(RuntimeException.class, () -> primary.createEntity(entity("3")));
    }
  }
}
