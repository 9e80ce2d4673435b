package stores

import (
	"context"
	"time"

	"edgetable/core/table"
)

// Unbuilt returns the Backend of a secondary while it builds its first store.
func Unbuilt(s table.Store, dir string) *Backend {
	return &Backend{
		Store: s, System: "edgetable", Place: "in " + dir + ", where they are being built",
		Close: func() error { return nil }, Ready: func(context.Context) error { return nil }, ReadyTTL: time.Second,
	}
}
