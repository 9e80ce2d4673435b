package postgres_test

import (
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/wiretest"
	"edgetable/core/wiretest/scene"
	"edgetable/testdata/must"
)

// TestWire sends the recorded requests of the corpus to servers that use the store. The
// clock of the servers stands still. The first Timestamps of a new table are above all
// reserved Timestamps, and therefore ahead of that clock.
func TestWire(t *testing.T) {
	dialect := wiretest.Dialect{Timestamps: true, TooLong: []string{"keys-refused/26"}} // the key in this recorded case is longer than maxKey
	wiretest.RunScenes(t, dialect, func(t *testing.T, clock *wiretest.Clock, directives []string) wiretest.Target {
		s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Now: clock.Now, PurgeEvery: -1})
		h, err := scene.Over(s, clock, directives, scene.Patient)
		must.OK(t, err)
		return wiretest.Direct(t, h)
	})
}
