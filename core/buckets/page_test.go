package buckets_test

import (
	"context"
	"slices"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestAccount checks that the cost of a page, its Scanned and its Examined count each row that the Source examined, also
// rows that the Source filtered out, and that a Source need not count rows that it returns.
func TestAccount(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "RowKey lt 'r000010'", "RowKey eq 'none'"} {
		for _, counts := range []bool{true, false} {
			s := grid(8)
			s.readBytes = 50_000
			r := table.ScanRequest{Ranges: []key.Range{{}}}
			if text != "" {
				r.Filter = filter(t, text)
				if counts {
					s.prefilter = r.Filter
				}
			}
			src := readFunc(func(ctx context.Context, b uint16, r key.Range, l buckets.Limit) (buckets.Chunk, error) {
				c, err := s.Read(ctx, b, r, l)
				if !counts {
					c.Examined, c.Scanned = 0, 0
				}
				return c, err
			})
			var c buckets.Cost
			page, err := buckets.Scan(t.Context(), src, 8, r, buckets.Options{Report: func(x buckets.Cost) { c = x }})
			if want := (buckets.Cost{Reads: len(s.reads), Waves: c.Waves, Rows: len(s.all), Bytes: s.bytesRead}); err != nil || c != want || c.Waves > c.Reads || c.Waves < 2 {
				t.Errorf("%q, the Source counts %t: cost %+v, want %+v; %v", text, counts, c, want, err)
			}
			if page.Examined != len(s.all) || page.Scanned != s.bytesRead {
				t.Errorf("%q, the Source counts %t: the page has %d rows of %d bytes, want %d of %d", text, counts, page.Examined, page.Scanned, len(s.all), s.bytesRead)
			}
		}
	}
}

// TestBegin checks that a page has the Traits and the time that Begin sets: entities that have expired then are on no
// page, or alone on the pages of a scan of ended entities.
func TestBegin(t *testing.T) {
	t.Parallel()
	s := grid(8)
	var alive, ended []string
	for i := range s.all {
		row := s.all[i]
		if row.Timestamp = edm.Ticks(i); i <= 1000 {
			ended = append(ended, string(row.Key))
		} else {
			alive = append(alive, string(row.Key))
		}
		s.put(row)
	}
	for _, x := range []struct {
		ended bool
		want  []string
	}{{false, alive}, {true, ended}} {
		o := buckets.Options{Begin: func(p *table.PageBuilder) {
			p.Traits, p.Now = &table.Traits{Expiry: &table.Expiry{After: 5000}}, 6000
		}}
		if got := keysOf(pages(t, s, 8, table.ScanRequest{Ranges: []key.Range{{}}, Rows: 300, Ended: x.ended}, o, nil)...); !slices.Equal(got, x.want) {
			t.Errorf("ended %t: %d rows, want %d", x.ended, len(got), len(x.want))
		}
	}
}

// TestCount checks that a scan that only counts returns the number of matching rows and no rows.
func TestCount(t *testing.T) {
	t.Parallel()
	page, err := buckets.Scan(t.Context(), grid(8), 8, table.ScanRequest{Ranges: []key.Range{{}}, Count: true, Filter: filter(t, "RowKey lt 'r000010'")}, buckets.Options{})
	if want := 3000/37*10 + 3; err != nil || page.Count != want || page.Rows != nil || page.Next != nil {
		t.Errorf("counted %d, want %d; %d rows, Next %q, %v", page.Count, want, len(page.Rows), page.Next, err)
	}
}

// TestWaves checks that a Source with ReadWave gets the reads of each wave there, at most FanOut at a time.
func TestWaves(t *testing.T) {
	t.Parallel()
	for _, fanOut := range []int{2, 3, 8, 9} {
		s := grid(8)
		w := &inWaves{Source: s}
		got := pages(t, w, 8, table.ScanRequest{Ranges: []key.Range{{}}, Rows: 300}, buckets.Options{FanOut: fanOut}, nil)
		if !slices.Equal(keysOf(got...), keysOf(s.all)) || w.most != min(fanOut, 8) {
			t.Errorf("%d at a time: %d rows, want %d; a wave has up to %d reads", fanOut, len(keysOf(got...)), len(s.all), w.most)
		}
	}
}
