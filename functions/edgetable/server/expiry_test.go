package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/memstore"
	"edgetable/testdata/must"
)

// TestExpiry checks that a primary removes expired entities within two hours after a table got its first rule. Other
// servers must remove nothing.
func TestExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(stores.Now)
		service := stores.NewService(store, 0)
		ctx, end := context.WithCancel(t.Context())
		name := table.Name{Account: "acme", Table: "People"}
		must.OK(t, service.CreateTable(ctx, name))
		must.OK(t, service.CreateTable(ctx, table.Name{Account: "acme", Table: "Other"}))
		for i := range 250 {
			instant := stores.Now() + edm.TicksPerSecond
			if i%5 == 0 {
				instant += 1 << 50
			}
			_, err := service.Write(ctx, name, table.Operation{PartitionKey: "p", RowKey: fmt.Sprint(i), Properties: edm.AppendProperty(nil, "Ends", edm.DateTime(instant))})
			must.OK(t, err)
		}
		must.OK(t, service.SetTableOptions(ctx, name, "", table.TableOptions{Expire: &table.Expiry{Property: "Ends"}}))
		var paused atomic.Bool
		e := expiry{service: service, accounts: func() []string { return []string{"none", "acme"} }, paused: paused.Load, log: slog.New(slog.DiscardHandler)}
		paused.Store(true)
		done := make(chan bool)
		go func() { e.run(ctx); close(done) }()
		time.Sleep(3 * time.Hour)
		if n := e.removed.Load(); n != 0 {
			t.Errorf("%d entities removed while another server writes", n)
		}
		paused.Store(false)
		time.Sleep(expireEvery + time.Minute)
		if n := e.removed.Load(); n != 200 {
			t.Errorf("%d entities removed, want 200", n)
		}
		if late := e.removalDelay(); late > 2*expireEvery+time.Hour {
			t.Errorf("the removal is %v behind after a look", late)
		}
		paused.Store(false)
		end()
		<-done
		before := e.removalDelay()
		time.Sleep(24 * time.Hour)
		if e.removalDelay() < before+23*time.Hour {
			t.Errorf("without a look for a day the removal is %v behind", e.removalDelay())
		}
		must.OK(t, service.SetTableOptions(t.Context(), name, "", table.TableOptions{}))
		page, err := service.Query(t.Context(), name, table.Query{Top: 1000})
		must.OK(t, err)
		if len(page.Rows) != 50 {
			t.Errorf("%d entities are left, want 50", len(page.Rows))
		}
	})
}
