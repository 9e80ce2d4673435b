package workerd_test

import (
	"os"
	"os/exec"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// What of the shell has tests of its own, under Node.js.
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
	c := exec.CommandContext(t.Context(), node, "--test", "../namespace.test.mjs", "../body.test.mjs", "../host.test.mjs", "../purge.test.mjs")
	c.Env = append(os.Environ(), "EDGETABLE_MODULE="+module, "EDGETABLE_KV_MODULE="+kv)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
