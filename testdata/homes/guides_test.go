package homes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// blocks matches the code blocks of a page. A block with the language sh has commands, and a block with the
// language text has their output.
var blocks = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```")

// guide runs the commands of a page in their order, in a directory with some files. Each text block must be in the
// output of the command block before it; in a text block, … matches anything. If a command block begins with a key
// of the map changes, guide calls the function of that key after the block.
func guide(t *testing.T, page string, files map[string]string, changes map[string]func()) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var printed string
	commands := 0
	for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
		if block[1] == "text" {
			parts := strings.Split(block[2], "…")
			for i := range parts {
				parts[i] = regexp.QuoteMeta(strings.TrimSpace(parts[i]))
			}
			if !regexp.MustCompile("(?s)" + strings.Join(parts, ".*")).MatchString(printed) {
				t.Errorf("%s: the commands print\n%s\nnot\n%s", page, printed, block[2])
			}
			continue
		}
		c := exec.CommandContext(t.Context(), "bash", "-euc", block[2])
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+filepath.Dir(binary(t))+":"+os.Getenv("PATH"), "XDG_CACHE_HOME="+dir, "XDG_CONFIG_HOME="+dir, "HOME="+dir)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", page, err, block[2], out)
		}
		printed = string(out)
		commands++
		for begin, change := range changes {
			if strings.HasPrefix(block[2], begin) {
				change()
			}
		}
	}
	if commands == 0 {
		t.Errorf("%s has no commands", page)
	}
}

// orders returns 600 entities as lines of JSON.
func orders(price func(i int) string) string {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, `{"PartitionKey":"%d","RowKey":"%03d","Price":%s}`+"\n", i/100, i, price(i))
	}
	return b.String()
}

func TestMigrateFromAzure(t *testing.T) {
	key := newKey()
	azure, here := connection(azurite(t, own+":"+key), own, key), connection(serve(t, binary(t), own+":"+key), own, key)
	file := filepath.Join(t.TempDir(), "Orders.jsonl")
	if err := os.WriteFile(file, []byte(orders(func(i int) string { return fmt.Sprint(i, ".25") })), 0o600); err != nil {
		t.Fatal(err)
	}
	edgetable(t, 0, "import", file, "--to", azure)
	put := func(to, entity string) { edgetable(t, 0, "put", "Orders", entity, "--to", to) }
	guide(t, "migrate-from-azure.md", map[string]string{"azure.txt": azure, "new.txt": here}, map[string]func(){
		// During the copy, the application writes: it inserts, changes and deletes an entity.
		"edgetable copy": func() {
			put(azure, `{"PartitionKey":"7","RowKey":"new"}`)
			put(azure, `{"PartitionKey":"0","RowKey":"000","Price":1.5}`)
			edgetable(t, 0, "delete", "Orders", "0", "001", "--in", azure)
		},
		// After the switch, the application writes to the new service.
		"edgetable verify": func() { put(here, `{"PartitionKey":"8","RowKey":"newer"}`) },
	})
	if out := edgetable(t, 0, "get", "Orders", "8", "newer", "--from", azure); !strings.Contains(out, "newer") {
		t.Errorf("the way back: %s", out)
	}
}

func TestMigrateFromAzurite(t *testing.T) {
	key := newKey()
	from, here := connection(azurite(t, own+":"+key), own, key), connection(serve(t, binary(t), own+":"+key), own, key)
	file := filepath.Join(t.TempDir(), "Orders.jsonl")
	if err := os.WriteFile(file, []byte(orders(func(i int) string { return []string{"5.0", "12.5"}[i%2] })), 0o600); err != nil {
		t.Fatal(err)
	}
	edgetable(t, 0, "import", file, "--to", from)
	guide(t, "migrate-from-azurite.md", map[string]string{"azurite.txt": from, "new.txt": here}, nil)
	// Azurite does not store the type of this Double, so each sync from edgetable to Azurite loses the type again.
	edgetable(t, 0, "put", "Orders", `{"PartitionKey":"9","RowKey":"double","Price":5.0}`, "--to", here)
	edgetable(t, 0, "sync", "--all", "--from", here, "--to", from)
	if out := edgetable(t, 4, "verify", "--all", "--from", here, "--to", from); !strings.Contains(out, "600 entities are equal, 1 is not") {
		t.Errorf("%s", out)
	}
}
