package pebblestore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore"
)

// TestAcceptCounts checks that a start with Options.AcceptDamage logs how many entities belong to no table.
func TestAcceptCounts(t *testing.T) {
	t.Parallel()
	const entities = 300
	disk := killedFiles(t, entities, false)
	db, err := pebble.Open("data", &pebble.Options{FS: disk, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.DeleteRange([]byte{1}, []byte{2}, pebble.Sync); err != nil { // removes all records
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// pebble.Open has replayed and removed logs that the file LOGS still lists. The next start regards these logs as
	// lost, so it needs Options.AcceptDamage.
	for _, path := range names(t, disk, "TABLES") {
		rewrite(t, disk, path, nil)
	}
	var said strings.Builder
	s, err := pebblestore.Open(pebblestore.Options{
		Dir: "data", FS: disk, AcceptDamage: true,
		Logf: func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }, Fatal: func(err error) { t.Errorf("fatal: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d entities belong to no table", entities); !strings.Contains(said.String(), want) {
		t.Errorf("it does not say %q: %s", want, said.String())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
