//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestAccountsTogether runs commands concurrently. They must not overwrite each other's changes, so
// each printed key must work.
func TestAccountsTogether(t *testing.T) {
	t.Parallel()
	const many = 16
	file := filepath.Join(t.TempDir(), "new", "accounts")
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			if status, _, said := run(t, nil, "account", "new", fmt.Sprintf("acme%d", i), "--accounts", file); status != 0 {
				t.Errorf("status %d: %s", status, said)
			}
		})
	}
	all.Wait()
	if out, _ := ok(t, "account", "list", "--accounts", file); strings.Count(out, "\n") != many {
		t.Errorf("of %d accounts there are\n%s", many, out)
	}
}
