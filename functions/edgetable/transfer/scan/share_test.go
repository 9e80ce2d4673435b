package scan

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/functions/edgetable/transfer/ranges"
)

// TestShare checks the estimate of the share of a table that was read. The keys are numbers, in
// which only few of the possible characters occur.
func TestShare(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{2, 4, 16} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := &simulated{rows: 100_000, way: 10 * time.Millisecond, page: 30 * time.Millisecond, probe: 2 * time.Millisecond}
				s := newScan(service.find)
				whole, err := ranges.WholeTable(t.Context(), s.probe, "")
				if err != nil {
					t.Fatal(err)
				}
				s.setTasks([]*Task{newTask(0, whole, ranges.FirstRank)})
				done := make(chan error, 1)
				go func() { done <- s.run(t.Context(), workers, service.read) }()
				worst, looks := 0.0, 0
				for tick := time.NewTicker(500 * time.Millisecond); ; {
					select {
					case err := <-done:
						if err != nil || looks < 3 {
							t.Fatalf("%v after %d looks", err, looks)
						}
						if worst > 0.1 {
							t.Errorf("an estimate was %.0f%% of the table away from the truth", 100*worst)
						}
						return
					case <-tick.C:
					}
					share := s.readShare()
					read := int64(0)
					s.mu.Lock()
					for _, p := range s.tasks {
						read += p.read()
					}
					s.mu.Unlock()
					truth := float64(read) / float64(service.rows)
					looks++
					worst = max(worst, share-truth, truth-share)
				}
			})
		})
	}
}
