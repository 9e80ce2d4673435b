package logguard

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/core/edm"
	"edgetable/testdata/must"
)

// commit returns a log record that contains the Mark m. The record is larger than a block of the log.
func commit(t *testing.T, m Mark) logfile.Record {
	t.Helper()
	var b pebble.Batch
	must.OK(t, b.LogData(m.Append(nil), nil))
	must.OK(t, b.Set([]byte("key"), bytes.Repeat([]byte{byte(m.Number)}, 40<<10), nil))
	return logfile.Record{Payload: slices.Clone(b.Repr())}
}

// written creates a directory with a Guard and a log with the commits 11 to 14. The Mark in each commit says that the
// previous commit was synced.
func written(t *testing.T) (fs *vfs.MemFS, path string) {
	t.Helper()
	fs = vfs.NewMem()
	must.OK(t, fs.MkdirAll("data", 0o700))
	g := New(Options{FS: fs, Dir: "data", Issued: func() int64 { return 10 }, Logf: t.Logf})
	must.OK(t, g.Begin())
	g.Replayed()
	writeManifest(t, g)
	path = "data/000007.log"
	f, err := g.Create(path, vfs.WriteCategoryUnspecified)
	must.OK(t, err)
	var records []logfile.Record
	for n := edm.Ticks(11); n <= 14; n++ {
		records = append(records, commit(t, Mark{Number: n, Synced: n - 1}))
	}
	must.OK(t, logfile.Write(f, 7, records))
	must.OK(t, errors.Join(f.Sync(), f.Close()))
	return fs, path
}

// writeManifest creates a MANIFEST, as Pebble does before it creates a log.
func writeManifest(t *testing.T, g *Guard) {
	t.Helper()
	f, err := g.Create("data/MANIFEST-000003", vfs.WriteCategoryUnspecified)
	must.OK(t, err)
	w := record.NewWriter(f)
	for _, b := range [][]byte{[]byte("one"), bytes.Repeat([]byte("two"), 20<<10)} {
		_, err := w.WriteRecord(b)
		must.OK(t, err)
	}
	must.OK(t, errors.Join(w.Close(), f.Sync(), f.Close()))
}

func content(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	must.OK(t, err)
	b, err := io.ReadAll(f)
	must.OK(t, errors.Join(err, f.Close()))
	return b
}

func put(t *testing.T, fs vfs.FS, path string, b []byte) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	must.OK(t, err)
	_, err = f.Write(slices.Clone(b)) // a copy, because MemFS overwrites the buffer if the race detector is on
	must.OK(t, errors.Join(err, f.Close()))
}

// replay opens the log as Pebble opens a log at a start.
func replay(t *testing.T, fs vfs.FS, path string, p Policy) (g *Guard, b []byte, err error) {
	t.Helper()
	g = New(Options{FS: fs, Dir: "data", OnLoss: p, Issued: func() int64 { return 0 }, Logf: t.Logf})
	if err := g.Begin(); err != nil {
		return g, nil, err
	}
	f, err := g.Open(path)
	if err != nil {
		return g, nil, err
	}
	b, err = io.ReadAll(f)
	return g, b, errors.Join(err, f.Close())
}

// numbers returns the numbers of the commits in a log.
func numbers(b []byte) (list []edm.Ticks) {
	for _, r := range logfile.Scan(b, 7).Replayable() {
		if m, ok := MarkOf(r.Payload); ok {
			list = append(list, m.Number)
		}
	}
	return list
}

// TestDamage checks that an unreadable commit is a loss only if the commit is known to be synced. The list of logs,
// or a Mark in a later log record, says which commit was synced last. Otherwise the commit is an incomplete end of
// the log. The test also checks what happens to the log after a loss, for each Policy (how to treat a loss).
func TestDamage(t *testing.T) {
	const block = 40 << 10
	for _, test := range []struct {
		name   string
		damage func([]byte) []byte
		noted  edm.Ticks // number of the synced commit in the list of logs
		lost   bool
		reads  []edm.Ticks // commits that the log contains after the readable part has replaced the file
	}{
		{"none", func(b []byte) []byte { return b }, 14, false, []edm.Ticks{11, 12, 13, 14}},
		{"in the middle", func(b []byte) []byte { b[block+block/2] ^= 1; return b }, 0, true, []edm.Ticks{11, 13, 14}},
		{"the last one, which nothing confirms", func(b []byte) []byte { b[3*block+block/2] ^= 1; return b }, 13, false, []edm.Ticks{11, 12, 13}},
		{"the last one, which the list confirms", func(b []byte) []byte { b[3*block+block/2] ^= 1; return b }, 14, true, []edm.Ticks{11, 12, 13}},
		{"a torn end", func(b []byte) []byte { return b[:3*block+block/2] }, 13, false, []edm.Ticks{11, 12, 13}},
		{"an end that is missing", func(b []byte) []byte { return b[:2*block] }, 13, true, []edm.Ticks{11}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, p := range []Policy{RefuseLoss, KeepReadable, ShowReadable} {
				fs, path := written(t)
				if test.noted > 0 {
					l := &list{fs: fs, dir: "data", logf: t.Logf}
					_, err := l.read()
					must.OK(t, err)
					l.recordSynced(fs, test.noted)
				}
				damaged := test.damage(content(t, fs, path))
				put(t, fs, path, damaged)
				g, b, err := replay(t, fs, path, p)
				if refused := test.lost && p == RefuseLoss; errors.Is(err, ErrLost) != refused || err != nil && !refused {
					t.Fatalf("policy %d: %v", p, err)
				}
				if len(g.Losses()) > 0 != test.lost || errors.Is(g.Damage(), ErrLost) != test.lost {
					t.Errorf("policy %d: lost: %q", p, g.Losses())
				}
				if got := numbers(b); err == nil && p != RefuseLoss && !slices.Equal(got, test.reads) {
					t.Errorf("policy %d: Pebble reads the commits %d", p, got)
				}
				if now := content(t, fs, path); p != KeepReadable && !bytes.Equal(now, damaged) {
					t.Errorf("policy %d: the log was changed", p)
				} else if p == KeepReadable && !slices.Equal(numbers(now), test.reads) {
					t.Errorf("the log has the commits %d now", numbers(now))
				}
				if p == KeepReadable && test.lost && !bytes.Equal(content(t, fs, path+".damaged"), damaged) {
					t.Error("the damaged log is not kept as it was")
				}
				if err == nil && !test.lost && g.Highest() != test.reads[len(test.reads)-1] {
					t.Errorf("the highest commit is %d", g.Highest())
				}
			}
		})
	}
}

// TestDamageBeforeTrailer checks that an unreadable last commit of a closed log is a loss if a newer log exists, because
// Pebble syncs a log before it creates the next one. This must hold even if a readable commit has a higher number.
func TestDamageBeforeTrailer(t *testing.T) {
	const last = 3 * 40 << 10 // an offset in the last commit; the trailer is in a later block
	for _, issued := range []int64{14, 13} {
		for _, p := range []Policy{RefuseLoss, KeepReadable, ShowReadable} {
			fs, path := written(t)
			g := New(Options{FS: fs, Dir: "data", Issued: func() int64 { return issued }, Logf: t.Logf})
			must.OK(t, g.Begin())
			f, err := g.Create("data/000008.log", vfs.WriteCategoryUnspecified)
			must.OK(t, errors.Join(err, f.Close()))
			if g, _, err := replay(t, fs, path, p); err != nil || g.Losses() != nil {
				t.Fatalf("undamaged: %v, %q", err, g.Losses())
			}
			b := content(t, fs, path)
			b[last+20<<10] ^= 8
			put(t, fs, path, b)
			g, b, err = replay(t, fs, path, p)
			if p == RefuseLoss {
				if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), path) {
					t.Errorf("issued %d: %v", issued, err)
				}
				continue
			}
			if err != nil || !slices.Equal(numbers(b), []edm.Ticks{11, 12, 13}) || len(g.Losses()) != 1 || !logfile.Scan(b, 7).Closed {
				t.Errorf("issued %d, policy %d: %v, Pebble reads %d, lost %q", issued, p, err, numbers(b), g.Losses())
			}
		}
	}
}

// TestMissing checks that a missing log is a loss if the log is in the list, and no loss if Pebble has removed the
// log.
func TestMissing(t *testing.T) {
	fs, path := written(t)
	must.OK(t, fs.Remove(path))
	if _, _, err := replay(t, fs, path, RefuseLoss); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "000007.log") {
		t.Errorf("a missing log: %v", err)
	}
	fs, path = written(t)
	g := New(Options{FS: fs, Dir: "data", Issued: func() int64 { return 0 }, Logf: t.Logf})
	must.OK(t, g.Begin())
	must.OK(t, g.Remove(path))
	if err := New(Options{FS: fs, Dir: "data", Logf: t.Logf}).Begin(); err != nil {
		t.Errorf("a log that was removed: %v", err)
	}
}

// TestListDamaged checks that a start succeeds, and ignores the list of logs, if any bit of the list is wrong.
func TestListDamaged(t *testing.T) {
	fs, _ := written(t)
	good := content(t, fs, "data/"+logList)
	for i := range 8 * len(good) {
		b := slices.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		put(t, fs, "data/"+logList, b)
		g := New(Options{FS: fs, Dir: "data", Logf: func(string, ...any) {}})
		if err := g.Begin(); err != nil || g.Listed() {
			t.Fatalf("bit %d: %v, and it is believed: %v", i, err, g.Listed())
		}
	}
}

// TestManifestCut checks that a start fails, with any policy, if the MANIFEST is shorter than its synced length.
func TestManifestCut(t *testing.T) {
	const path = "data/MANIFEST-000003"
	fs := vfs.NewMem()
	must.OK(t, fs.MkdirAll("data", 0o700))
	g := New(Options{FS: fs, Dir: "data", Issued: func() int64 { return 1 }, Logf: t.Logf})
	must.OK(t, g.Begin())
	writeManifest(t, g)
	log, err := g.Create("data/000004.log", vfs.WriteCategoryUnspecified) // Create also writes the list of logs
	must.OK(t, err)
	must.OK(t, log.Close())
	if records, whole, err := ReadManifest(fs, "data", path); err != nil || !whole || len(records) != 2 {
		t.Fatalf("%d records, whole: %v, %v", len(records), whole, err)
	}
	put(t, fs, path, content(t, fs, path)[:10])
	for _, p := range []Policy{RefuseLoss, KeepReadable, ShowReadable} {
		if _, _, err := replay(t, fs, path, p); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrLost) {
			t.Errorf("policy %d: %v", p, err)
		}
	}
	if _, whole, err := ReadManifest(fs, "data", path); err != nil || whole {
		t.Errorf("whole: %v, %v", whole, err)
	}
}

// kept is a Keeper that records the numbers of the logs passed to Keep.
type kept []uint32

func (k *kept) MustKeep(n uint32) bool { return n == 7 }

func (k *kept) Keep(_ string, n uint32) error {
	*k = append(*k, n)
	return nil
}

// TestKeeper checks that Keep is called for a log that the Keeper wants, and that such a log is never reused.
func TestKeeper(t *testing.T) {
	fs, path := written(t)
	var k kept
	g := New(Options{FS: fs, Dir: "data", Issued: func() int64 { return 14 }, Keeper: &k, Logf: t.Logf})
	must.OK(t, g.Begin())
	f, err := g.ReuseForWrite(path, "data/000008.log", vfs.WriteCategoryUnspecified)
	must.OK(t, err)
	must.OK(t, f.Close())
	must.OK(t, g.Remove("data/000008.log"))
	if len(numbers(content(t, fs, path))) != 4 || !slices.Equal(k, kept{7}) {
		t.Errorf("the keeper has %d", k)
	}
}
