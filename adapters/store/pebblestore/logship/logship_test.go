package logship

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/wholefile"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/testdata/must"
)

// directory is a data directory with logs.
type directory struct {
	t    *testing.T
	fs   *vfs.MemFS
	full bool
}

func newDirectory(t *testing.T) *directory {
	d := &directory{t: t, fs: vfs.NewCrashableMem()}
	must.OK(t, d.fs.MkdirAll("data", 0o700))
	must.OK(t, wholefile.SyncDir(d.fs, ""))
	return d
}

func (d *directory) open(limit int64) *Keeper {
	d.t.Helper()
	k, err := Open(Options{FS: d.fs, Dir: "data", Issued: func() int64 { return 99 }, Full: func() bool { return d.full }, Logf: d.t.Logf}, limit)
	must.OK(d.t, err)
	return k
}

func (d *directory) path(log uint32) string { return d.fs.PathJoin("data", logguard.LogName(log)) }

// write writes a log with commits of about 1,000 bytes, in the order of the given numbers.
func (d *directory) write(log uint32, numbers ...edm.Ticks) {
	d.t.Helper()
	f, err := d.fs.Create(d.path(log), vfs.WriteCategoryUnspecified)
	must.OK(d.t, err)
	var records []logfile.Record
	for _, n := range numbers {
		var b pebble.Batch
		must.OK(d.t, b.LogData(logguard.Mark{Number: n}.Append(nil), nil))
		must.OK(d.t, b.Set([]byte("key"), make([]byte, 1000), nil))
		records = append(records, logfile.Record{Payload: slices.Clone(b.Repr())})
	}
	must.OK(d.t, logfile.Write(f, log, records))
	must.OK(d.t, errors.Join(f.Sync(), f.Close()))
}

func (d *directory) has(path string) bool {
	_, err := d.fs.Stat(path)
	return err == nil
}

// TestReader checks that a Reader returns commits in the order of their numbers. In the logs, a higher
// number may precede a lower number. The Reader must return each durable commit once. It must not return
// commits that are not durable yet.
func TestReader(t *testing.T) {
	for _, size := range []int{1, 2500, 1 << 20} {
		d := newDirectory(t)
		d.write(3, 1, 4, 2)
		d.write(5, 3, 7, 5)
		d.write(6, 6, 9, 8)
		k := d.open(1 << 20)
		must.OK(t, k.Begin(0, false))
		must.OK(t, k.Keep(d.path(3), 3)) // one of the logs is in the folder of kept logs
		r := k.Read(1)
		var got []edm.Ticks
		for _, upTo := range []edm.Ticks{4, 4, 8} {
			for {
				list, from, to, err := r.Next(upTo, size)
				must.OK(t, err)
				if len(list) == 0 {
					break
				}
				for _, c := range list {
					if c.Number <= from || c.Number > to || to > upTo {
						t.Errorf("commit %d is in (%d, %d], up to %d", c.Number, from, to, upTo)
					}
					got = append(got, c.Number)
				}
			}
			if want := []edm.Ticks{2, 3, 4, 5, 6, 7, 8}[:upTo-1]; !slices.Equal(got, want) {
				t.Errorf("size %d, up to %d: %d", size, upTo, got)
			}
		}
		// The log with commit 9 must not be removed.
		must.OK(t, r.Shipped(8))
		if d.has(k.path(3)) || !d.has(d.path(6)) || k.MustKeep(5) || !k.MustKeep(6) {
			t.Errorf("size %d: the log 3 is kept: %v, 5: %v, 6: %v", size, d.has(k.path(3)), k.MustKeep(5), k.MustKeep(6))
		}
		if since := k.Timeline().LogAfter; since != 8 {
			t.Errorf("size %d: logs are kept since %d", size, since)
		}
	}
}

// TestKeep checks that a log that Pebble no longer needs is in the folder of kept logs, even after a power
// failure. Above the limit, and on a full disk, all kept logs must be removed and Timeline.Since must change.
func TestKeep(t *testing.T) {
	d := newDirectory(t)
	d.write(3, 1, 2)
	d.write(4, 3)
	k := d.open(3200)
	must.OK(t, k.Begin(0, false))
	must.OK(t, k.Keep(d.path(3), 3))
	if d.has(d.path(3)) || !d.has(k.path(3)) {
		t.Fatal("the log was not moved")
	}
	d.fs = d.fs.CrashClone(vfs.CrashCloneCfg{})
	k = d.open(-1) // a negative limit means no limit, but keeps logs only if the last start kept logs
	numbers, size := k.Kept()
	if !slices.Equal(numbers, []uint32{3}) || size < 2000 || k.Timeline().LogAfter != 1 {
		t.Fatalf("after a loss of power: %d, %d bytes, since %d", numbers, size, k.Timeline().LogAfter)
	}
	k = d.open(2200)
	must.OK(t, k.Keep(d.path(4), 4))
	if numbers, _ := k.Kept(); len(numbers) > 0 || d.has(k.path(3)) || k.Timeline().LogAfter != 99 {
		t.Errorf("above the limit: %d, since %d", numbers, k.Timeline().LogAfter)
	}
	d.write(5, 100)
	d.full = true
	must.OK(t, k.Keep(d.path(5), 5))
	if numbers, _ := k.Kept(); len(numbers) > 0 || d.has(d.path(5)) || d.has(k.path(5)) {
		t.Errorf("on a full disk: %d", numbers)
	}
	must.OK(t, k.Limit(0))
	if k.MustKeep(6) || d.open(-1).limit.Load() != 0 {
		t.Error("logs are kept that nobody wants")
	}
}

// TestTimelineFile checks that the next start reads the stored timeline. After a loss of commits, it must keep the name of
// the backup location. If the file is damaged, the start must begin a new timeline, whose logs contain only later commits.
func TestTimelineFile(t *testing.T) {
	d := newDirectory(t)
	k := d.open(math.MaxInt64)
	must.OK(t, k.Begin(5, false))
	must.OK(t, k.Change(0, func(t *commitlog.Timeline) { t.ID, t.Parent, t.ForkedAt, t.Location = "b", "a", 4, "place" }))
	if got := d.open(-1).Timeline(); !reflect.DeepEqual(got, commitlog.Timeline{ID: "b", Parent: "a", ForkedAt: 4, LogAfter: 5, Location: "place"}) {
		t.Errorf("it is %+v", got)
	}
	lossy := d.open(math.MaxInt64)
	must.OK(t, lossy.Begin(6, true))
	if got := lossy.Timeline(); !reflect.DeepEqual(got, commitlog.Timeline{Parent: "b", LogAfter: 6, Location: "place"}) {
		t.Errorf("after a loss it is %+v", got)
	}
	path := d.fs.PathJoin("data", timelineFile)
	f, err := d.fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	must.OK(t, err)
	_, err = f.WriteAt([]byte("?"), 8)
	must.OK(t, errors.Join(err, f.Close()))
	if got := d.open(-1).Timeline(); !reflect.ValueOf(got).IsZero() {
		t.Errorf("a damaged one is %+v", got)
	}
}
