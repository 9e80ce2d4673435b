package ship

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/objects"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// pit is a backup location that keeps timelines (histories of commits) and discards all other objects, so
// that a benchmark measures only the server.
type pit struct {
	list  []objects.Object
	bytes int64
}

func (p *pit) Put(_ context.Context, name string, b []byte) error {
	if strings.HasPrefix(name, "timelines/") {
		p.list = append(p.list, objects.Object{Name: name})
	}
	p.bytes += int64(len(b))
	return nil
}
func (p *pit) Get(context.Context, string) ([]byte, error) { return nil, fs.ErrNotExist }
func (p *pit) Delete(context.Context, string) error        { return nil }
func (p *pit) List(_ context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for _, o := range p.list {
			if strings.HasPrefix(o.Name, prefix) && !yield(o, nil) {
				return
			}
		}
	}
}

// BenchmarkShip ships commits of 1 KiB. Each call of shipDurable ships 2, 100 or 10,000 commits. One
// benchmark operation is one commit.
func BenchmarkShip(b *testing.B) {
	for _, n := range []int{2, 100, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			store, err := pebblestore.Open(pebblestore.Options{Dir: b.TempDir(), KeepLogs: 1 << 30})
			must.OK(b, err)
			defer store.Close()
			tables := table.New(store, table.Options{Now: func() edm.Ticks { return edm.TicksOf(time.Now()) }, Rand: rand.Uint64})
			name := table.Name{Account: "acme", Table: "People"}
			must.OK(b, tables.CreateTable(b.Context(), name))
			p := &pit{}
			s := New(Options{Place: repository.New(p), Store: store, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Wake: func() {}})
			line, err := s.Place.BeginTimeline(b.Context(), repository.Timeline{Store: "this"})
			must.OK(b, err)
			must.OK(b, store.BeginTimeline(line.ID, "", 0))
			must.OK(b, s.readFrom(store.Durable(), true))
			text := edm.AppendProperty(nil, "Text", edm.String(strings.Repeat("0123456789abcdef", 64)))
			written := 0
			b.ReportAllocs()
			for b.Loop() {
				if written++; written%n > 0 {
					continue
				}
				b.StopTimer()
				var g errgroup.Group
				g.SetLimit(64)
				for i := range n {
					g.Go(func() error {
						_, err := store.Commit(b.Context(), name.Key(), []table.Mutation{{Kind: table.Put, Key: key.Append(nil, fmt.Sprint("p", i), "r"), Properties: text}})
						return err
					})
				}
				must.OK(b, g.Wait())
				b.StartTimer()
				must.OK(b, s.shipDurable(b.Context(), time.Minute))
			}
			b.ReportMetric(float64(p.bytes)/float64(written), "place-bytes/op")
		})
	}
}
