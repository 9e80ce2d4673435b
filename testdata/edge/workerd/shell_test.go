package workerd_test

import (
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
	if out, err := exec.CommandContext(t.Context(), node, "--test", "../namespace.test.mjs", "../body.test.mjs").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
