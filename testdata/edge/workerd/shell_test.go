package workerd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// TestShell runs the Node.js tests for parts of the shell, which is the JavaScript of the Worker.
func TestShell(t *testing.T) {
	t.Parallel()
	node, err := workerd.Node()
	if err != nil {
		t.Fatal(err)
	}
	module, err := workerd.Module("")
	if err != nil {
		t.Fatal(err)
	}
	kv, err := workerd.Module("kv")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob("../*.test.mjs")
	if err != nil || len(tests) == 0 {
		t.Fatalf("%d tests, %v", len(tests), err)
	}
	c := exec.CommandContext(t.Context(), node, append([]string{"--test"}, tests...)...)
	c.Env = append(os.Environ(), "EDGETABLE_MODULE="+module, "EDGETABLE_KV_MODULE="+kv)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
