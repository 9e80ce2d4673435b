package fulldisk

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

type roomy struct {
	vfs.FS
	free atomic.Uint64
}

func (r *roomy) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: r.free.Load(), TotalBytes: 1 << 40}, nil
}

// TestStarved checks that writes are refused after a compaction has failed for lack of space. Writes
// are accepted again if more space is free than at the failure. Pebble retries a compaction that is
// still needed. So writes are also accepted if Pebble has not retried the compaction for a while.
// Other programs may free space after the failure, but before the store notices the failure. Then
// writes must be accepted too.
func TestStarved(t *testing.T) {
	const reserve, all = 8 << 20, 1 << 30
	for _, test := range []struct {
		name     string
		written  int64  // bytes that the compaction wrote, which are freed after it fails
		free     uint64 // free bytes when the store notices the failure
		later    uint64 // free bytes after the store has noticed the failure
		runs     bool   // whether Pebble retries the compaction
		accepted bool   // whether writes are accepted a second later
		after    bool   // whether writes are accepted a minute later
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
