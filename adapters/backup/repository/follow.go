package repository

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"edgetable/core/edm"
)

// Next returns the pieces that continue the log from a number, in order. It lists only the folders of the minutes in
// which the next pieces should begin. [Repository.Behind] finds all others, and gaps.
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

// late is how long a delayed request may still store a piece after its store has been replaced.
const late = 15 * time.Minute

// Behind returns the pieces that continue the log from a number, in order, and the gap after them; the gap is nil if
// the pieces just end. It lists all pieces if all is set. Otherwise it lists the pieces of the hour of the number:
// a joined piece, and one that a delayed request stored, is listed under an earlier minute of that hour.
func (r *Repository) Behind(ctx context.Context, timeline string, number edm.Ticks, all bool) (list []Piece, gap *Gap, err error) {
	after := ""
	if !all {
		after = folderOf(timeline, edm.TicksOf(number.Time().Add(-late).Truncate(joinWindow)))
	}
	if list, err = r.pieces(ctx, logDir+timeline+"/", after); err != nil {
		return nil, nil, err
	}
	if list, gap = chain(list, timeline, number, edm.MaxDateTime); gap != nil && gap.Until == 0 {
		gap = nil // the log ends here
	}
	return list, gap, nil
}

// Spans caches where the log continues the backups of a place, so that each manifest is read once. The value is nil
// if the log does not continue the backup.
type Spans map[string]*LogSpan

// Synced returns a time such that every write that returned before it has a number up to the given one. The backups
// of an idle store record such times. Synced returns 0 if no cached backup has one.
func (s Spans) Synced(timeline string, number edm.Ticks) (at edm.Ticks) {
	for _, span := range s {
		if span != nil && span.Timeline == timeline {
			at = max(at, span.syncedAt(number))
		}
	}
	return at
}

// Lacks returns the gap after number, up to which a place has the pieces of a timeline. There is a gap if the place
// shows that there were later commits: a backup contains them, or a prune has removed them. until is the number at
// which the line of the newest timeline leaves the given timeline.
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
				continue // removed after it was listed
			}
			if err != nil {
				return nil, err
			}
			if m, err := decode(id, b); err == nil { // the content of a damaged manifest is unknown
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

// Plans returns a plan for each backup on the line of the newest timeline: it restores the newest state that the
// backup and the log after it allow. The plan of the newest backup comes first.
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
