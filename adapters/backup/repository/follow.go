package repository

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"edgetable/core/edm"
)

// Next returns the pieces that lead on from a number, in order. It lists only the minutes to
// which these lead: [Repository.Behind] finds the others, and gaps.
func (r *Repository) Next(ctx context.Context, timeline string, number edm.Ticks) (list []Piece, err error) {
	for looked := ""; looked != folderOf(timeline, number); {
		looked = folderOf(timeline, number)
		found, err := r.pieces(ctx, looked, "")
		if err != nil {
			return nil, err
		}
		if found, _ = chain(found, timeline, number, edm.MaxDateTime); len(found) > 0 {
			list, number = append(list, found...), found[len(found)-1].To
		}
	}
	return list, nil
}

// late is how long after its turn a delayed request may still store a piece.
const late = 15 * time.Minute

// Behind returns the pieces that lead on from a number, in order, and the gap after them, nil if
// the pieces end. It lists all pieces, or those that may begin near the number: a piece that a
// delayed request stored, and joined pieces, begin in an earlier minute, but not before its hour.
func (r *Repository) Behind(ctx context.Context, timeline string, number edm.Ticks, all bool) (list []Piece, gap *Gap, err error) {
	after := ""
	if !all {
		after = folderOf(timeline, edm.TicksOf(number.Time().Add(-late).Truncate(joinWindow)))
	}
	if list, err = r.pieces(ctx, logDir+timeline+"/", after); err != nil {
		return nil, nil, err
	}
	if list, gap = chain(list, timeline, number, edm.MaxDateTime); gap != nil && gap.Until == 0 {
		gap = nil // the log ends
	}
	return list, gap, nil
}

// Spans remembers where the log continues the backups of a place, nil where it does not, so that
// each manifest is read once.
type Spans map[string]*LogSpan

// Synced returns a time before which every write that returned has a number up to one, 0 if no backup that was read says
// so: those of an idle store do.
func (s Spans) Synced(timeline string, number edm.Ticks) (at edm.Ticks) {
	for _, span := range s {
		if span != nil && span.Timeline == timeline {
			at = max(at, span.syncedAt(number))
		}
	}
	return at
}

// Lacks returns the gap after a number at which the pieces of a timeline end, if the place shows
// that there were commits above it: a backup has them, or a prune has removed them. until is where
// the line of the newest timeline leaves the timeline.
func (r *Repository) Lacks(ctx context.Context, timeline string, number, until edm.Ticks, known Spans) (*Gap, error) {
	ids, err := r.names(ctx, backupDir)
	if err != nil {
		return nil, err
	}
	highest := edm.Ticks(0)
	for _, id := range slices.Backward(ids) {
		span, read := known[id]
		if !read {
			b, err := r.objects.Get(ctx, backupDir+id)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed since it was listed
			}
			if err != nil {
				return nil, err
			}
			if m, err := decode(id, b); err == nil { // what a damaged one has nobody can say
				span = m.Log
			}
			known[id] = span
		}
		if span != nil && span.Timeline == timeline && span.High <= until {
			highest = span.High
			break
		}
	}
	removed, err := r.pruned(ctx)
	if err != nil {
		return nil, err
	}
	if highest = max(highest, min(removed, until)); highest > number {
		return &Gap{timeline, number, highest}, nil
	}
	return nil, nil
}

// Plans returns how to restore the newest state that each backup leads to, on the line of the
// newest timeline, with the newest backup first.
func (r *Repository) Plans(ctx context.Context) (list []*Plan, err error) {
	h, err := r.historyOf(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(h.bases) {
		if steps, end, at, _ := h.from(m, edm.MaxDateTime); end >= m.Log.High {
			list = append(list, &Plan{Base: m, Steps: steps, Timeline: at, To: end, Above: h.highest()})
		}
	}
	return list, nil
}
