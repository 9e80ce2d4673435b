package storetest_test

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/memstore"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

// memory is a place whose stores are one.
func memory(_ testing.TB, now func() edm.Ticks) storetest.Place {
	s := memstore.New(now)
	return storetest.Place{
		Store:   s,
		Share:   func(func() edm.Ticks) table.Store { return s },
		Restart: func(func() edm.Ticks) table.Store { return s },
	}
}
