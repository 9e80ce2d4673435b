package ship

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/backup/repository"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/requests"
)

// TestRequests counts the requests that a primary sends to the backup location in an hour: with one write a second,
// and without writes. It checks that docs/secondaries.md states these numbers. Backups are not counted.
func TestRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := new(requests.Place)
		s := newShipping(t)
		must.OK(t, s.store.Close())
		s.o.FS, s.o.Dir = vfs.NewMem(), "data"
		s.Shipper.Place = repository.New(place)
		s.start()
		s.Shipper.Backup = func(context.Context) (*repository.LogSpan, error) {
			return &repository.LogSpan{Timeline: s.store.Timeline().ID, Low: s.store.Durable(), High: s.store.Durable()}, nil
		}
		never := func() bool { return false }
		ctx, stop := context.WithCancel(t.Context())
		go s.Serve(ctx, time.Second, never)
		time.Sleep(time.Second / 4) // Serve and JoinPieces must never wake at the same moment
		go s.JoinPieces(ctx, never)
		people := table.Name{Account: "acme", Table: "People"}
		must.OK(t, s.service().CreateTable(ctx, people))
		hour := func(writes bool) requests.Counts {
			for n := range 3600 {
				if writes {
					_, err := s.store.Commit(ctx, people.Key(), []table.Mutation{{Kind: table.Put, Key: key.Append(nil, "p", fmt.Sprint(n))}})
					must.OK(t, err)
				}
				time.Sleep(time.Second)
			}
			synctest.Wait()
			return place.Reset()
		}
		time.Sleep(time.Second / 4)
		hour(true)
		hour(true)
		busy := hour(true) // this includes the requests that join the log pieces of the previous hour
		hour(false)
		idle := hour(false)
		stop()
		synctest.Wait()
		page, err := os.ReadFile("../../../docs/secondaries.md")
		must.OK(t, err)
		for _, row := range []string{
			fmt.Sprintf("| a primary, busy | %s |", busy),
			fmt.Sprintf("| a primary, idle | %s |", idle),
		} {
			if !strings.Contains(string(page), row) {
				t.Errorf("docs/secondaries.md has no row %q", row)
			}
		}
	})
}
