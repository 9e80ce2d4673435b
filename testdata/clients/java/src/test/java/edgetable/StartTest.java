package edgetable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class StartTest {
  private static final Pattern BLOCK = Pattern.compile("^```(?:java|text)\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

  /** A table with the rule of docs/expire.md, if the store keeps it. */
  private static final String EXPIRING = System.getenv("EDGETABLE_CLIENTS_EXPIRING");

  /** A table with a feed, if the store keeps it. */
  private static final String FEEDING = System.getenv("EDGETABLE_CLIENTS_FEEDING");

  @RegisterExtension static final Tables tables = new Tables();

  @Test
  @DisplayName("QueryEntities: docs/start/java.md")
  void start(@TempDir Path folder) throws Exception {
    run("start/java.md", folder.resolve("Hello.java"));
    if (System.getenv("EDGETABLE_CLIENTS_ASCENDING") == null) {
      run("query.md", folder.resolve("Latest.java"));
    }
    if (EXPIRING != null && !EXPIRING.isEmpty()) {
      run("expire.md", folder.resolve("Sessions.java"));
    }
    if (FEEDING != null && !FEEDING.isEmpty()) {
      run("feed.md", folder.resolve("Follower.java"));
    }
  }

  private static void run(String name, Path program) throws Exception {
    String page = Files.readString(Path.of("../../../docs", name));
    List<String> blocks = BLOCK.matcher(page).results().map((MatchResult block) -> block.group(1)).toList();
    String table = name.equals("expire.md") ? EXPIRING : name.equals("feed.md") ? FEEDING : tables.name();
    Files.writeString(program, blocks.get(0).replace("People", table).replace("Events", table).replace("\"Sessions\"", "\"" + table + "\"")
        .replace("\"Orders\"", "\"" + table + "\""));
    Process run = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-XX:TieredStopAtLevel=1",
        "-cp", System.getProperty("java.class.path"), program.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    assertEquals(blocks.get(1), new String(run.getInputStream().readAllBytes()));
    assertEquals(0, run.waitFor());
  }
}
