package fulldisk

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// roomy is a file system that says how much is free.
type roomy struct {
	vfs.FS
	free atomic.Uint64
}

func (r *roomy) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: r.free.Load(), TotalBytes: 1 << 40}, nil
}

// TestStarved: after a compaction that failed for want of space, writes are refused until
// there is more space than before, or no other attempt was made. What was freed by others
// before the failure was noticed counts as more.
func TestStarved(t *testing.T) {
	const reserve, all = 8 << 20, 1 << 30
	for _, test := range []struct {
		name     string
		written  int64  // by the compaction, which it gives back
		free     uint64 // when the failure is noticed
		later    uint64 // free bytes behind it
		runs     bool   // another attempt runs
		accepted bool   // a second later
		after    bool   // a minute later
	}{
		{"no space", 0, 1 << 20, 1 << 20, false, false, false},
		{"space came before", 0, all, all, false, true, true},
		{"space comes", all, 1 << 20, 2 * all, true, true, true},
		{"only what the compaction gives back", all, 1 << 20, all, true, false, false},
		{"the same, and no other attempt", all, 1 << 20, all, false, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := &roomy{FS: vfs.NewMem()}
				fs.free.Store(2 * all)
				if err := fs.MkdirAll("data", 0o700); err != nil {
					t.Fatal(err)
				}
				s := New(Options{FS: fs, Dir: "data", Reserve: reserve, Retry: 10 * time.Second, Logf: t.Logf})
				s.Open()
				if s.Full() {
					t.Fatal("full at once")
				}
				s.Compacting(true)
				s.output("data/000001.sst").Store(test.written)
				fs.free.Store(test.free)
				s.Starve()
				s.outputEnds("data/000001.sst")
				if !test.runs {
					s.Compacting(false)
				}
				fs.free.Store(test.later)
				time.Sleep(measureEvery + 1)
				synctest.Wait()
				if s.Full() == test.accepted {
					t.Errorf("a second later writes are refused: %v", s.Full())
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if s.Full() == test.after {
					t.Errorf("a minute later writes are refused: %v", s.Full())
				}
				s.Close()
			})
		})
	}
}
