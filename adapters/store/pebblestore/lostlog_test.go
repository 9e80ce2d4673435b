package pebblestore_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestLogInTheMiddle truncates each log of the store except the newest: to zero bytes, after a commit (so
// that the log looks complete), or within a commit. Errors of Open and Check must name the file and the
// times of the lost commits. If the loss is accepted, the store must report the loss to the operator.
func TestLogInTheMiddle(t *testing.T) {
	t.Parallel()
	b := newDamageBase(t, "several logs", true)
	logs := slices.Sorted(slices.Values(b.files["log"]))
	for _, path := range logs[:len(logs)-1] {
		whole := content(t, b.disk, path)
		commits := pebblestore.CommitsOfLog(t, whole, b.disk.PathBase(path))
		half := commits[len(commits)/2]
		for what, n := range map[string]int{
			"emptied": 0, "cut behind a commit": half.End, "cut behind another commit": commits[len(commits)-2].End, "cut within a commit": half.Begin + 9,
		} {
			disk := copyOf(b.disk)
			rewrite(t, disk, path, whole[:n])
			report, err := check(t, disk, "")
			if err != nil || !mentions(report.Problems, path) || !mentions(report.Problems, "until 2") {
				t.Errorf("%s %s: check says %q, %v", path, what, report.Problems, err)
			}
			if _, err := reopen(t, disk, false); !errors.Is(err, pebblestore.ErrLost) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s %s: the start says %v", path, what, err)
			}
			var lines []string
			s, err := pebblestore.Open(pebblestore.Options{
				Dir: "data", FS: disk, AcceptDamage: true, Fatal: func(err error) { t.Errorf("fatal: %v", err) },
				Logf: func(f string, a ...any) { lines = append(lines, fmt.Sprintf(f, a...)) },
			})
			if err != nil {
				t.Fatalf("%s %s: accepted: %v", path, what, err)
			}
			if !mentions(lines, path) {
				t.Errorf("%s %s: the accepted loss is not in the log: %q", path, what, lines)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestLastCommitOfLog flips a bit of the last commit of each log, and of the first commit of the newest log. The commits are
// larger than a block of the log, so the end of the log remains readable. The start, Check and a salvage must name the
// file and the time of the lost commit, and the loss can be accepted.
func TestLastCommitOfLog(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	fs := holdFlushFS{disk, make(chan struct{})}
	s, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: fs, Logf: t.Logf, Fatal: func(err error) { t.Errorf("fatal: %v", err) }}.Small().Piling())
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	const size = 100
	batches := int64(0)
	for ; len(names(t, disk, ".log")) < 4; batches++ { // the last commit is the first of the newest log
		var batch []table.Mutation
		for i := range size {
			batch = append(batch, table.Mutation{
				Key:        key.Append(nil, fmt.Sprint("p", batches), fmt.Sprintf("r%02d", i)),
				Properties: edm.AppendProperty(nil, "Text", edm.String(strings.Repeat("x", 800))),
			})
		}
		if _, err := s.Commit(t.Context(), people, batch); err != nil {
			t.Fatal(err)
		}
		if batches%2 == 0 { // on a slow machine, marks are anywhere between commits
			must.OK(t, s.Mark())
		}
	}
	must.OK(t, s.Mark())
	killed := copyOf(disk)
	close(fs.until)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	logs := names(t, killed, ".log")
	for n, path := range logs {
		whole := content(t, killed, path)
		commits := pebblestore.CommitsOfLog(t, whole, killed.PathBase(path))
		flipped := commits[0] // Pebble gave the first commit of the newest log its number before it created this log
		if n < len(logs)-1 {
			flipped = commits[len(commits)-1]
		}
		for at := flipped.Begin + 30; at < flipped.End; at += 9000 {
			damaged := copyOf(killed)
			b := bytes.Clone(whole)
			b[at] ^= 8
			rewrite(t, damaged, path, b)
			for _, salvage := range []string{"", "saved"} {
				report, err := check(t, damaged, salvage)
				if err != nil || !mentions(report.Problems, path) || !mentions(report.Problems, "until 2") || report.Entities != (batches-1)*size {
					t.Errorf("%s flipped at %d: check says %q of %d entities, %v", path, at, report.Problems, report.Entities, err)
				}
			}
			if _, err := reopen(t, damaged, false); !errors.Is(err, pebblestore.ErrLost) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s flipped at %d: the start says %v", path, at, err)
			}
			s, err := reopen(t, damaged, true)
			if err != nil {
				t.Fatalf("%s flipped at %d: accepted: %v", path, at, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if report, err := check(t, damaged, ""); err != nil || len(report.Problems) > 0 || report.Entities != (batches-1)*size {
				t.Errorf("%s flipped at %d: after the loss was accepted: %+v, %v", path, at, report, err)
			}
		}
	}
}

func mentions(lines []string, text string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, text) })
}

// TestNewestLogCut truncates the newest log after a commit. It checks that Open notices the loss, because
// the file LOGS says that a later commit was synced.
func TestNewestLogCut(t *testing.T) {
	t.Parallel()
	disk := killedFiles(t, 300, false)
	logs := names(t, disk, ".log")
	path := logs[len(logs)-1]
	whole := content(t, disk, path)
	commits := pebblestore.CommitsOfLog(t, whole, disk.PathBase(path))
	for _, n := range []int{0, commits[len(commits)/2].End} {
		place := copyOf(disk)
		rewrite(t, place, path, whole[:n])
		if _, err := reopen(t, place, false); !errors.Is(err, pebblestore.ErrLost) || !strings.Contains(err.Error(), path) {
			t.Errorf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
}

// TestFirstLogGone removes the log that contains the format version and the records of the tables. With
// --accept-damage, the store must serve the other data, with the records from the file TABLES.
func TestFirstLogGone(t *testing.T) {
	t.Parallel()
	b := newDamageBase(t, "several logs", true)
	first := slices.Min(b.files["log"])
	for _, copies := range []bool{true, false} {
		disk := copyOf(b.disk)
		gone := []string{first}
		if !copies {
			gone = append(gone, "data/TABLES")
		}
		for _, path := range gone {
			if err := disk.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		syncDir(t, disk)
		before := fingerprint(t, disk)
		if _, err := reopen(t, disk, false); err == nil || fingerprint(t, disk) != before {
			t.Fatalf("second copy %v: refused without a change: %v", copies, err)
		}
		s, err := reopen(t, disk, true)
		if copies {
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"People", "Orders", "Again"} {
				if _, err := s.ReadRecord(t.Context(), b.tables[name].key, table.Strong); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "--salvage") || fingerprint(t, disk) != before {
			t.Errorf("without names the store must be refused unchanged: %v", err)
		}
		report, err := check(t, disk, "saved")
		if err != nil || len(report.Recovered) == 0 || !mentions(report.Problems, "Recovered1") {
			t.Fatalf("salvage: %+v, %v", report, err)
		}
		s, err = pebblestore.Open(pebblestore.Options{Dir: "saved", FS: disk})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range report.Recovered {
			page, err := s.Scan(t.Context(), k, table.ScanRequest{Ranges: []key.Range{{}}})
			if err != nil || len(page.Rows) == 0 {
				t.Errorf("%s has %d rows, %v", k.Table, len(page.Rows), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSalvageBetween damages two blocks of a data file that are far from each other. It checks that a
// salvage saves the entities between these blocks.
func TestSalvageBetween(t *testing.T) {
	t.Parallel()
	const entities = 8000
	disk := killedFiles(t, entities, false)
	s, err := reopen(t, disk, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // Close moves all commits to data files
		t.Fatal(err)
	}
	paths := names(t, disk, ".sst")
	path := slices.MaxFunc(paths, func(a, b string) int { return len(content(t, disk, a)) - len(content(t, disk, b)) })
	b := content(t, disk, path)
	b[len(b)/10] ^= 0x55
	b[len(b)*8/10] ^= 0x55
	rewrite(t, disk, path, b)
	report, err := check(t, disk, "saved")
	if err != nil || report.Entities < entities*9/10 || report.Entities >= entities || len(report.Problems) != 2 {
		t.Errorf("%d of %d entities, %q, %v", report.Entities, entities, report.Problems, err)
	}
}
