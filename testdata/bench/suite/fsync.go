package suite

import (
	"os"
	"path/filepath"
	"time"

	"edgetable/functions/edgetable/load/hist"
)

// fsyncLatency writes and syncs 4 KiB n times in dir. It shows what a durable write costs on this disk now.
func fsyncLatency(dir string, n int) (p50, p99 time.Duration, err error) {
	name := filepath.Join(dir, "fsync.probe")
	f, err := os.Create(name)
	if err != nil {
		return 0, 0, err
	}
	defer os.Remove(name)
	defer f.Close()
	var h hist.Histogram
	page := make([]byte, 4096)
	for i := range n {
		page[0] = byte(i)
		start := time.Now()
		if _, err := f.Write(page); err != nil {
			return 0, 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, 0, err
		}
		h.Record(time.Since(start))
	}
	return h.Quantile(0.5), h.Quantile(0.99), nil
}
