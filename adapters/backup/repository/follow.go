package repository

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"edgetable/core/edm"
)

// Next returns, in order, the log pieces after a commit number. It may miss joined and delayed pieces, which
// [Repository.Behind] finds.
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

// maxWriteDelay is the maximum time between the replacement of a store and a delayed write of a log piece by this
// store.
const maxWriteDelay = 15 * time.Minute

// Behind returns, in order, the log pieces after a commit number, and the gap that follows them. The gap is nil if the
// log ends there. If all is false, Behind does not list old folders.
func (r *Repository) Behind(ctx context.Context, timeline string, number edm.Ticks, all bool) (list []Piece, gap *Gap, err error) {
	after := ""
	if !all {
		after = folderOf(timeline, edm.TicksOf(number.Time().Add(-maxWriteDelay).Truncate(joinWindow)))
	}
	if list, err = r.pieces(ctx, logDir+timeline+"/", after); err != nil {
		return nil, nil, err
	}
	if list, gap = chain(list, timeline, number, edm.MaxDateTime); gap != nil && gap.UpTo == 0 {
		gap = nil // the log ends here
	}
	return list, gap, nil
}

// Spans caches the spans of backups by name, so that each manifest is read only once. A span is nil if no log continues
// the backup.
type Spans map[string]*LogSpan

// Synced returns a time T such that every write that was confirmed before T has a commit number of at most the given
// one. It returns 0 if the cached backups do not show such a time.
func (s Spans) Synced(timeline string, number edm.Ticks) (at edm.Ticks) {
	for _, span := range s {
		if span != nil && span.Timeline == timeline {
			at = max(at, span.syncedAt(number))
		}
	}
	return at
}

// FindGap returns the gap at the end of a timeline's log, or nil if there is none. The parameter number is the last
// commit number in the log.
//
// There is a gap if a backup has later commits, or if a prune has removed later commits. Commits with numbers above
// maxNumber do not count.
func (r *Repository) FindGap(ctx context.Context, timeline string, number, maxNumber edm.Ticks, known Spans) (*Gap, error) {
	span, err := r.newestSpan(ctx, timeline, maxNumber, known)
	if err != nil {
		return nil, err
	}
	removed, err := r.pruned(ctx)
	if err != nil {
		return nil, err
	}
	highest := min(removed, maxNumber)
	if span != nil {
		highest = max(highest, span.High)
	}
	if highest > number {
		return &Gap{timeline, number, highest}, nil
	}
	return nil, nil
}

// newestSpan returns the span of the newest backup that the log of a timeline continues, or nil. It ignores backups
// with commits above maxNumber.
func (r *Repository) newestSpan(ctx context.Context, timeline string, maxNumber edm.Ticks, known Spans) (*LogSpan, error) {
	ids, err := r.names(ctx, backupDir)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Backward(ids) {
		span, read := known[id]
		if !read {
			b, err := r.objects.Get(ctx, backupDir+id)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a prune removed the manifest after it was listed
			}
			if err != nil {
				return nil, err
			}
			if m, err := decode(id, b); err == nil { // a damaged manifest does not show which commits the backup has
				span = m.Log
			}
			known[id] = span
		}
		if span != nil && span.Timeline == timeline && span.High <= maxNumber {
			return span, nil
		}
	}
	return nil, nil
}

// Hole returns a gap in a timeline's log between two commit numbers, or nil. It ignores gaps before the newest backup.
//
// If all is false, Hole does not list old folders, and may return a gap that does not exist.
func (r *Repository) Hole(ctx context.Context, timeline string, after, shipped edm.Ticks, all bool, known Spans) (*Gap, error) {
	span, err := r.newestSpan(ctx, timeline, edm.MaxDateTime, known)
	if err != nil {
		return nil, err
	}
	if span != nil {
		after = max(after, span.Low)
	}
	if after == 0 || after >= shipped {
		return nil, nil
	}
	list, gap, err := r.Behind(ctx, timeline, after, all)
	if n := len(list); n > 0 {
		after = list[n-1].To
	}
	if err != nil || after >= shipped {
		return nil, err
	}
	if gap == nil {
		gap = &Gap{timeline, after, shipped}
	}
	return gap, nil
}

// Plans returns a restore plan for each usable backup of the newest timeline and its ancestors, newest first.
func (r *Repository) Plans(ctx context.Context) (list []*Plan, err error) {
	h, err := r.historyOf(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(h.bases) {
		if steps, end, at, _ := h.stepsFrom(m, edm.MaxDateTime); end >= m.Log.High {
			list = append(list, &Plan{Base: m, Steps: steps, Timeline: at, To: end, Highest: h.highest()})
		}
	}
	return list, nil
}
