package follow

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/objects"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// busy is a backup location of a busy primary. Whenever the objects of the log are listed, the
// primary ships another piece of the log.
type busy struct {
	objects.Place
	ship  func() // ships a piece of the log; may be nil
	lists atomic.Int64
}

func (p *busy) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for o, err := range p.Place.List(ctx, prefix) {
			if !yield(o, err) {
				return
			}
		}
		if strings.HasPrefix(prefix, "log/") {
			p.lists.Add(1)
			if p.ship != nil {
				p.ship()
			}
		}
	}
}

// line is a timeline (a history of commits) in a backup location, with a secondary that follows it.
// At first, the store of the secondary is at the beginning of the timeline.
type line struct {
	*testing.T
	*Follower
	place    objects.Place
	id       string
	identity string    // identity of the store that ships the log
	to       edm.Ticks // commit number up to which the log is shipped
	synced   edm.Ticks // time Synced of the next piece of the log; 0 stands for the middle between its first and its last commit number
	step     edm.Ticks // length of the range of commit numbers in each piece of the log
}

func newLine(t *testing.T, place objects.Place) *line {
	l := &line{T: t, place: place, to: 10, step: 10, Follower: &Follower{
		o:    Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), MaxLag: 1 << 62},
		from: Source{Place: repository.New(place)}, whole: true, backups: repository.Spans{},
	}}
	store, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir(), KeepLogs: 1 << 30})
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, store.Close()) })
	l.store = store
	l.identity, err = l.store.Identity()
	must.OK(t, err)
	begun, err := l.from.Place.BeginTimeline(t.Context(), repository.Timeline{Store: l.identity})
	must.OK(t, err)
	l.id, l.at = begun.ID, commitlog.Position{Timeline: begun.ID, Number: l.to}
	must.OK(t, l.store.Replay(t.Context(), l.at, nil))
	return l
}

// ship uploads the next piece of the log to the backup location. After the secondary was promoted,
// ship does nothing.
func (l *line) ship() {
	l.Helper()
	w, err := repository.NewPieceWriter(nil, repository.Zstd)
	must.OK(l, err)
	piece, err := w.Seal(repository.Piece{Timeline: l.id, From: l.to, To: l.to + l.step, Synced: cmp.Or(l.synced, l.to+l.step/2)}, repository.Zstd)
	must.OK(l, err)
	if err = l.from.Place.Ship(l.Context(), piece); errors.Is(err, repository.ErrReplaced) {
		return
	}
	must.OK(l, err)
	l.to += l.step
}

// TestNeverQuiet checks a secondary whose primary never stops writing. The secondary has caught up
// when it has applied all pieces of the log that it has listed, although the primary has shipped
// another piece by then. A promotion must end, although the primary ships more and more pieces.
func TestNeverQuiet(t *testing.T) {
	t.Parallel()
	p := &busy{Place: directory.Place{Dir: t.TempDir()}}
	l := newLine(t, p)
	for range 50 {
		l.ship()
	}
	p.ship = l.ship
	for range 3 {
		want, lists := l.to, p.lists.Load()
		must.OK(t, l.applyShipped(t.Context()))
		if l.at.Number != want || l.at.Synced != want-5 {
			t.Errorf("it is at %+v, want %v", l.at, want)
		}
		if n := p.lists.Load() - lists; n != 1 {
			t.Errorf("one turn lists the log %d times", n)
		}
		if r := l.Replication(); r.Status != table.Live || r.LastSync != want-5 {
			t.Errorf("%+v", r)
		}
		must.OK(t, l.Ready())
	}
	at, _, err := l.store.Position()
	if must.OK(t, err); at != l.at {
		t.Errorf("the store is at %v, the follower at %v", at, l.at)
	}
	asked := l.to
	done, err := l.Promote(t.Context(), false, 0)
	if must.OK(t, err); done.Number < asked {
		t.Errorf("it was promoted at %v; when that was asked the place had %v", done.Number, asked)
	}
}

// TestLostBeforeTimeline checks that a secondary reports a gap if the last pieces of the log before
// a new timeline (history of commits) are missing.
func TestLostBeforeTimeline(t *testing.T) {
	t.Parallel()
	place := directory.Place{Dir: t.TempDir()}
	l := newLine(t, place)
	l.ship()
	there := l.to
	l.ship()
	var lost objects.Object
	for o, err := range place.List(t.Context(), "log/") {
		must.OK(t, err)
		lost = o // the last piece of the log in key order
	}
	piece, err := place.Get(t.Context(), lost.Name)
	must.OK(t, err)
	must.OK(t, place.Delete(t.Context(), lost.Name))
	_, err = l.from.Place.BeginTimeline(t.Context(), repository.Timeline{Store: l.identity, Parent: l.id, ForkedAt: l.to})
	must.OK(t, err)

	must.OK(t, l.applyShipped(t.Context()))
	if err := l.applyShipped(t.Context()); !errors.As(err, new(*repository.Gap)) || l.at.Number != there {
		t.Errorf("it is at %v without what follows, and says %v", l.at, err)
	}
	must.OK(t, place.Put(t.Context(), lost.Name, piece))
	must.OK(t, l.applyShipped(t.Context()))
	if l.at.Timeline == l.id || l.at.Number != l.to {
		t.Errorf("it is at %v", l.at)
	}
}
