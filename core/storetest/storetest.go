package storetest

import "testing"

// Run runs the whole suite.
func Run(t *testing.T, h Harness) {
	t.Run("Records", func(t *testing.T) { Records(t, h) })
	t.Run("Entities", func(t *testing.T) { Entities(t, h) })
	t.Run("Timestamps", func(t *testing.T) { Timestamps(t, h) })
	t.Run("Scans", func(t *testing.T) { Scans(t, h) })
	t.Run("Order", func(t *testing.T) { Order(t, h) })
	t.Run("Expiry", func(t *testing.T) { Expiry(t, h) })
	t.Run("Changes", func(t *testing.T) { Changes(t, h) })
	t.Run("Incarnations", func(t *testing.T) { Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { Concurrency(t, h) })
	t.Run("LostReplies", func(t *testing.T) { LostReplies(t, h) })
}
