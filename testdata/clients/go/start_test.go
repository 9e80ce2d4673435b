package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStart runs the program of docs/start/go.md with a table of its own.
func TestStart(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/start/go.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```\\w+\n(.*?)^```").FindAllSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of code, not a program and what it prints", len(blocks))
	}
	service, table := newService(t), newName(t)
	t.Cleanup(func() { deleteTable(t, service, table) })
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(strings.ReplaceAll(string(blocks[0][1]), "People", table)), 0o666); err != nil {
		t.Fatal(err)
	}
	if printed, err := exec.Command("go", "run", program).CombinedOutput(); err != nil || string(printed) != string(blocks[1][1]) {
		t.Errorf("got %s, %v; want %s", printed, err, blocks[1][1])
	}
}
