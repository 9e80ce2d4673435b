package example;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A server in memory for the tests of a class: {@code @RegisterExtension static final Edgetable edgetable = new Edgetable();}.
 * It ends after them, and with this process however that ends.
 */
public final class Edgetable implements BeforeAllCallback, AfterAllCallback {
  private Process process;
  private String connectionString;

  /** Returns the connection string of the server's account. */
  public String connectionString() {
    return connectionString;
  }

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    String program = Optional.ofNullable(System.getenv("EDGETABLE_BINARY")).orElse("edgetable");
    process = new ProcessBuilder(program, "serve", "--memory", "--listen", "127.0.0.1:0", "--until-eof")
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (connectionString == null && line.trim().startsWith("connection string ")) {
        connectionString = line.trim().substring("connection string ".length()).trim();
      }
      if (line.equals("ready")) {
        return;
      }
    }
    throw new IOException("edgetable did not start: its reason is above");
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException, InterruptedException {
    process.getOutputStream().close(); // ends its standard input
    if (process.waitFor() != 0) {
      throw new IOException("edgetable ended with status " + process.exitValue());
    }
  }
}
