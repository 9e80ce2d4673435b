package workerd_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/core/wiretest/scene"
	"edgetable/testdata/memstore"
)

// TestSplittingWire replays the corpus of recorded requests while each table splits as soon as it has two
// partitions. The responses must be the same except for Timestamps, which each range issues itself, and for
// continuation tokens that contain the first key of a range.
func TestSplittingWire(t *testing.T) {
	small := sharing(t, "EDGETABLE_SPLIT_BYTES=1")
	var split atomic.Int64
	t.Run("corpus", func(t *testing.T) {
		wiretest.RunScenes(t, wiretest.Dialect{Timestamps: true, Tokens: true}, func(t *testing.T, clock *wiretest.Clock, directives []string) wiretest.Target {
			var store table.Store = memstore.New(clock.Now) // the reference store, because only it simulates the failures that some recorded requests need
			if !slices.ContainsFunc(directives, func(d string) bool { return strings.HasPrefix(d, "store ") }) {
				place := small.NewPlace(clock.Now)
				var err error
				store, err = durableobject.New(durableobject.Options{Caller: place.Caller(), Now: clock.Now, Rand: rand.Uint64, Attempts: 100})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					n, err := place.Count(context.Background(), durableobject.Catalog(scene.Account, "").Name, 'g')
					if err != nil {
						t.Error(err)
					}
					split.Add(int64(n))
				})
			}
			h, err := scene.Over(store, clock, directives, scene.Patient)
			if err != nil {
				t.Fatal(err)
			}
			return wiretest.Direct(t, h)
		})
	})
	if t.Logf("%d tables have split", split.Load()); split.Load() == 0 {
		t.Error("no table has split")
	}
}
