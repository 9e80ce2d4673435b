package postgres_test

import (
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/wiretest"
	"edgetable/core/wiretest/scene"
	"edgetable/testdata/must"
)

// TestWire plays the corpus to servers over the store. A new table begins above all
// Timestamps that are reserved, so the first ones are ahead of a clock that stands still.
func TestWire(t *testing.T) {
	dialect := wiretest.Dialect{Timestamps: true, TooLong: []string{"keys-refused/26"}} // see maxKey
	wiretest.RunScenes(t, dialect, func(t *testing.T, clock *wiretest.Clock, directives []string) wiretest.Target {
		s := open(t, shared, postgres.Options{Schema: schema(t, shared), Now: clock.Now, PurgeEvery: -1})
		h, err := scene.Over(s, clock, directives, scene.Patient)
		must.OK(t, err)
		return wiretest.Direct(t, h)
	})
}
