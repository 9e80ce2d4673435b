package repository_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/testdata/must"
)

// reads is a backup location for tests. It counts how often each object with file content was read.
type reads struct {
	*shelf
	mu    sync.Mutex
	count map[string]int
}

func (r *reads) Get(ctx context.Context, name string) ([]byte, error) {
	if strings.HasPrefix(name, "objects/") {
		r.mu.Lock()
		r.count[name]++
		r.mu.Unlock()
	}
	return r.shelf.Get(ctx, name)
}

// TestReread checks that backups read each object that they reuse once in 30 days, and about the same number
// of objects each day. The content of a damaged object must be stored again.
func TestReread(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		w := newWorld(1)
		if encrypted {
			w.encrypted(t)
		}
		const same = "the same each time" // content of a file whose name changes; without encryption, all backups use one object for this content
		w.files = map[string]content{"marker.manifest.000001": {nil, w.now}, "OPTIONS-000000": {[]byte(same), w.now}}
		w.number = 0
		for i := range 20 {
			w.files[fmt.Sprintf("%06d.sst", i)] = content{bytes.Repeat([]byte{byte(i)}, 100), w.now}
		}
		place := &reads{shelf: newShelf(), count: map[string]int{}}
		var newest *repository.Manifest
		month := func() (most int, damaged []string) {
			for range 30 {
				w.now = w.now.Add(24 * time.Hour)
				delete(w.files, fmt.Sprintf("OPTIONS-%06d", w.number))
				w.number++
				w.files[fmt.Sprintf("OPTIONS-%06d", w.number)] = content{[]byte(same), w.now}
				before := len(place.count)
				m, err := w.create(t, t.Context(), place)
				must.OK(t, err)
				newest, damaged, most = m, append(damaged, m.Mended...), max(most, len(place.count)-before)
			}
			return most, damaged
		}
		_, err := w.create(t, t.Context(), place)
		must.OK(t, err)
		most, damaged := month()
		want := 21
		if encrypted {
			want = 20
		}
		if len(place.count) != want || most > 5 || len(damaged) > 0 {
			t.Errorf("%d objects were read, at most %d at once, damaged %q", len(place.count), most, damaged)
		}
		var objects []string
		for name, n := range place.count {
			if objects = append(objects, name); n != 1 {
				t.Errorf("%s was read %d times", name, n)
			}
		}
		slices.SortFunc(objects, func(a, b string) int { // the shortest object, which has the content of OPTIONS, comes first
			return cmp.Or(cmp.Compare(len(place.objects[a]), len(place.objects[b])), cmp.Compare(a, b))
		})
		for _, name := range objects[:3] {
			place.objects[name][0] ^= 1
		}
		delete(place.objects, objects[3]) // the next backup notices at once that this object is missing
		r := repository.New(place)
		if _, damaged = month(); len(damaged) != 3 || !strings.Contains(strings.Join(damaged, " "), objects[0]) {
			t.Errorf("damaged %q, want %q", damaged, objects[:3])
		}
		if report, err := r.Verify(t.Context(), []*repository.Manifest{newest}, w.with, func(int64, int64) {}); err != nil || len(report.Problems) > 0 {
			t.Errorf("%v, %v", report, err)
		}
		w.restored(t, place)
	}
}
