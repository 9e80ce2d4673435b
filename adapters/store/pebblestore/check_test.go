package pebblestore_test

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/offline"
	"edgetable/testdata/must"
)

func check(t *testing.T, disk vfs.FS, salvage string) (offline.Report, error) {
	t.Helper()
	return offline.Check(pebblestore.Options{
		Dir: "data", FS: disk, Fatal: func(err error) { t.Errorf("fatal: %v", err) },
	}.Small(), salvage, nil)
}

// TestCheck checks that Check finds no problems in an undamaged store and does not change it.
func TestCheck(t *testing.T) {
	t.Parallel()
	const entities = 2000
	disk := killedFiles(t, entities, true)
	before := names(t, disk, "")
	report, err := check(t, disk, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) > 0 || report.Entities != entities || report.Tables != 1 {
		t.Errorf("%+v", report)
	}
	if after := names(t, disk, ""); len(after) != len(before) {
		t.Errorf("files before %q, after %q", before, after)
	}
	if _, err := check(t, vfs.NewMem(), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
	if _, err := check(t, disk, "data"); err == nil {
		t.Error("the store itself is accepted as the directory for the saved data")
	}
}

// TestSalvage damages a data file and the log of a store. It checks that a salvage saves everything
// except the damaged blocks, and that the report names both files.
func TestSalvage(t *testing.T) {
	t.Parallel()
	const entities = 3000
	disk := killedFiles(t, entities, true)
	logs := names(t, disk, ".log")
	damage := func(path string, at func(length int) int) {
		b := content(t, disk, path)
		b[at(len(b))] ^= 0x10
		rewrite(t, disk, path, b)
	}
	damage(logs[len(logs)-1], func(n int) int { return n / 3 })
	largest := largestLive(t, disk)
	damage(largest, func(n int) int { return n / 2 })
	report, err := check(t, disk, "saved")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(report.Problems, "\n")
	if !strings.Contains(all, largest) || !strings.Contains(all, logs[len(logs)-1]) {
		t.Errorf("problems: %s", all)
	}
	if report.Entities < entities*9/10 || report.Entities >= entities {
		t.Errorf("%d of %d entities were read", report.Entities, entities)
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: "saved", FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := count(t, s, entities); int64(n) != report.Entities {
		t.Errorf("%d entities were saved, %d reported", n, report.Entities)
	}
	if bytes.Contains([]byte(all), []byte("carrier")) {
		t.Errorf("problems have useless lines: %s", all)
	}
}

// TestNewestLogGone removes the newest of several logs. The report must name this log alone, because the logs before it are whole.
func TestNewestLogGone(t *testing.T) {
	t.Parallel()
	b := newDamageBase(t, "several logs", true)
	disk, newest := copyOf(b.disk), slices.Max(b.files["log"])
	must.OK(t, disk.Remove(newest))
	report, err := check(t, disk, "")
	must.OK(t, err)
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], disk.PathBase(newest)+" is missing") {
		t.Errorf("problems: %q", report.Problems)
	}
}

// TestSalvageWithoutManifest removes the MANIFEST of a store, and then damages or removes its log. The report must name
// the lost commits of the log, too.
func TestSalvageWithoutManifest(t *testing.T) {
	t.Parallel()
	const entities = 300
	for _, gone := range []bool{true, false} {
		disk := killedFiles(t, entities, true)
		logs := names(t, disk, ".log")
		newest := logs[len(logs)-1]
		if gone {
			must.OK(t, disk.Remove(newest))
		} else {
			b := content(t, disk, newest)
			b[len(b)/3] ^= 0x10
			rewrite(t, disk, newest, b)
		}
		alone, err := check(t, disk, "")
		must.OK(t, err)
		if len(alone.Problems) != 1 {
			t.Fatalf("the log is gone: %v, %q", gone, alone.Problems)
		}
		all, err := disk.List("data")
		must.OK(t, err)
		for _, name := range all {
			if strings.HasPrefix(name, "MANIFEST-") {
				must.OK(t, disk.Remove(disk.PathJoin("data", name)))
			}
		}
		report, err := check(t, disk, "saved")
		must.OK(t, err)
		if !slices.Contains(report.Problems, alone.Problems[0]) || strings.Count(strings.Join(report.Problems, "\n"), "lost") != 1 || report.Entities != alone.Entities {
			t.Errorf("the log is gone: %v, %d entities of %d, %q; want the problem %q", gone, report.Entities, alone.Entities, report.Problems, alone.Problems)
		}
	}
}
