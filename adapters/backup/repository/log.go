package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"filippo.io/age"

	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/objects"
)

// Ship stores a log piece in the backup location. If the location has a newer timeline or a later term than the piece, Ship returns an error.
func (r *Repository) Ship(ctx context.Context, s *Sealed) error {
	now, err := r.LogOwner(ctx)
	if err != nil {
		return err
	}
	if err := now.Check(s.Timeline, s.Term); err != nil {
		return err
	}
	return r.objects.Put(ctx, s.object(), s.bytes)
}

// Pieces lists log pieces, sorted by commit number. If timeline is "", it lists the pieces of all timelines.
func (r *Repository) Pieces(ctx context.Context, timeline string) ([]Piece, error) {
	prefix := logDir
	if timeline != "" {
		prefix += timeline + "/"
	}
	return r.pieces(ctx, prefix, "")
}

// pieces lists the log pieces whose object names begin with a prefix and sort after a given name.
func (r *Repository) pieces(ctx context.Context, prefix, startAfter string) (list []Piece, err error) {
	for o, err := range objects.ListAfter(ctx, r.objects, prefix, startAfter) {
		if err != nil {
			return nil, err
		}
		if p, ok := parsePiece(o.Name, o.Size); ok {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Piece) int {
		return cmp.Or(cmp.Compare(a.Timeline, b.Timeline), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return list, nil
}

// ReadPiece reads and verifies a log piece. If a retry would not help, the error is a [DamagedPiece].
func (r *Repository) ReadPiece(ctx context.Context, named *Piece, with []age.Identity) (p Piece, commits []commitlog.Commit, err error) {
	p, packed, err := r.checkPiece(ctx, named)
	if err == nil {
		if commits, err = p.unpack(packed, with); err != nil {
			err = &DamagedPiece{named.object(), err}
		}
	}
	return p, commits, err
}

// checkPiece reads and verifies a log piece. If the piece was joined with others since it was listed, checkPiece
// returns the joined piece, which has more commits.
func (r *Repository) checkPiece(ctx context.Context, named *Piece) (p Piece, packed []byte, err error) {
	b, err := r.objects.Get(ctx, named.object())
	if errors.Is(err, fs.ErrNotExist) {
		joined, listErr := r.joinedOf(ctx, named)
		if joined == nil {
			return p, nil, fmt.Errorf("%s cannot be read: %w", named.object(), errors.Join(err, listErr))
		}
		named = joined
		b, err = r.objects.Get(ctx, named.object())
	}
	if err != nil {
		return p, nil, fmt.Errorf("%s cannot be read: %w", named.object(), err)
	}
	if p, packed, err = openPiece(named, b); err != nil {
		return p, nil, &DamagedPiece{named.object(), err}
	}
	return p, packed, nil
}

// joinedOf returns the joined log piece that contains the commits of a deleted piece, or nil if there is none.
func (r *Repository) joinedOf(ctx context.Context, gone *Piece) (*Piece, error) {
	list, err := r.Pieces(ctx, gone.Timeline)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if p := &list[i]; p.From <= gone.From && p.To >= gone.To && p.object() != gone.object() {
			return p, nil
		}
	}
	return nil, nil
}

// DamagedPiece is the error for a log piece that was read but cannot be used.
type DamagedPiece struct {
	Object string
	Cause  error
}

func (d *DamagedPiece) Error() string { return d.Object + ": " + d.Cause.Error() }
func (d *DamagedPiece) Unwrap() error { return d.Cause }

// Gap is a range of a timeline's commit numbers whose commits are missing in the backup location.
type Gap struct {
	Timeline string
	Above    edm.Ticks
	UpTo     edm.Ticks // end of the gap; 0 if the log ends at the number Above
}

func (g *Gap) Error() string {
	if g.UpTo == 0 {
		return fmt.Sprintf("the log with the --timeline ID %s ends at %s", g.Timeline, g.Above)
	}
	return fmt.Sprintf("the log with the --timeline ID %s has a gap: it lacks the commits after %s, up to and including %s", g.Timeline, g.Above, g.UpTo)
}

// chain returns the log pieces of a timeline that cover the commit numbers in (from, to], and the gap if they end
// earlier. list must be sorted.
func chain(list []Piece, timeline string, from, to edm.Ticks) (part []Piece, gap *Gap) {
	var furthest Piece
	i := 0
	for at := from; at < to; at = furthest.To {
		for ; i < len(list) && (list[i].Timeline != timeline || list[i].From <= at); i++ {
			if list[i].Timeline == timeline && list[i].To > furthest.To {
				furthest = list[i]
			}
		}
		if furthest.To <= at {
			gap := &Gap{Timeline: timeline, Above: at}
			if i < len(list) {
				gap.UpTo = list[i].From
			}
			return part, gap
		}
		part = append(part, furthest)
	}
	return part, nil
}
