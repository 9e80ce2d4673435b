package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStart runs the example programs of docs/start/go.md, docs/query.md, docs/expire.md and docs/feed.md. Each
// program uses its own table.
func TestStart(t *testing.T) {
	t.Parallel()
	declaring := map[string]string{ // names of existing tables with an expiry rule, or with a change feed, if the store supports them
		"expire.md": os.Getenv("EDGETABLE_CLIENTS_EXPIRING"), "feed.md": os.Getenv("EDGETABLE_CLIENTS_FEEDING"),
	}
	for _, name := range []string{"start/go.md", "query.md", "expire.md", "feed.md"} {
		declared, declares := declaring[name]
		if declares && declared == "" {
			continue
		}
		if name == "query.md" && os.Getenv("EDGETABLE_CLIENTS_ASCENDING") != "" {
			continue
		}
		page, err := os.ReadFile("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?ms)^```(?:go|text)\n(.*?)^```").FindAllSubmatch(page, -1)
		if len(blocks) != 2 {
			t.Fatalf("%s: %d blocks, not a program and what it prints", name, len(blocks))
		}
		service, table := newService(t), newName(t)
		if declares {
			table = declared
		}
		t.Cleanup(func() { deleteTable(t, service, table) })
		program := filepath.Join(t.TempDir(), "main.go")
		text := strings.NewReplacer("People", table, "Events", table, "Sessions", table, "Orders", table).Replace(string(blocks[0][1]))
		if err := os.WriteFile(program, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if printed, err := exec.Command("go", "run", program).CombinedOutput(); err != nil || string(printed) != string(blocks[1][1]) {
			t.Errorf("%s: got %s, %v; want %s", name, printed, err, blocks[1][1])
		}
	}
}
