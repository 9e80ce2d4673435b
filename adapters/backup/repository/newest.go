package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"edgetable/core/edm"
)

// State is what a restore of the newest state starts from: a plan with a backup and its log, or only a backup if no log
// continues it.
type State struct {
	Plan   *Plan
	Backup *Manifest
}

// NewestStateError is the error for a backup location whose newest state cannot be restored.
type NewestStateError struct {
	Cause error
	State *State // an older state that can be restored; nil if there is none
}

func (l *NewestStateError) Error() string {
	text := fmt.Sprintf("the newest state cannot be restored: %v", l.Cause)
	switch {
	case l.State == nil:
	case l.State.Plan != nil:
		text += fmt.Sprintf("; --to-time %s restores the state before it", l.State.Plan.To)
	default:
		text += fmt.Sprintf("; --backup %s restores the newest usable backup, of %s", l.State.Backup.ID, edm.TicksOf(l.State.Backup.StartedAt))
	}
	return text
}

func (l *NewestStateError) Unwrap() error { return l.Cause }

// NewestState returns how to restore the newest state of a timeline; "" means the newest timeline. It returns a
// [NewestStateError] if the newest commits cannot be restored.
func (r *Repository) NewestState(ctx context.Context, timeline string) (*State, error) {
	s, err := r.newestState(ctx, timeline)
	if _, less := errors.AsType[*NewestStateError](err); less {
		s, err = r.newestState(ctx, timeline) // The object lists were read one after the other and may contradict each other, so they are read again.
	}
	return s, err
}

func (r *Repository) newestState(ctx context.Context, timeline string) (*State, error) {
	all, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	timelines, err := r.Timelines(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Backward(all.Damaged) {
		if n := len(all.Complete); d.Object == backupDir+d.ID && (n == 0 || d.ID > all.Complete[n-1].ID) {
			return nil, fmt.Errorf("the manifest of the newest backup, %s, is damaged: %w; restore the file, or name an older backup with --backup", d.Object, d.Cause)
		}
	}
	pieces, err := r.Pieces(ctx, "")
	if err != nil {
		return nil, err
	}
	lost, err := r.strayed(ctx, timelines, all.Complete, pieces)
	if err != nil {
		return nil, err
	}
	if timeline != "" && len(timelines) == 0 {
		return nil, ErrNoLog
	}
	if len(timelines) == 0 && len(lost) == 0 {
		return (&history{}).newest(all.Complete)
	}
	h := history{pieces: pieces}
	if len(lost) > 0 {
		err = lost[0]
	} else {
		h.line, err = lineOf(timelines, cmp.Or(timeline, timelines[len(timelines)-1].ID))
	}
	if err != nil { // it is unknown which backups belong to the newest timeline
		s, _ := (&history{}).newest(all.Complete)
		return nil, &NewestStateError{err, s}
	}
	h.setBases(all.Complete)
	on, off := h.split(all.Complete)
	s, err := h.newest(on)
	if errors.Is(err, ErrNone) && len(off) > 0 {
		s, _ = (&history{}).newest(off)
		return nil, &NewestStateError{ErrNoneYet, s}
	}
	return s, err
}

// newest returns how to restore the newest state, given the backups of a timeline and its ancestors.
func (h *history) newest(on []*Manifest) (*State, error) {
	if len(on) == 0 {
		return nil, ErrNone
	}
	s, reach := &State{Backup: on[len(on)-1]}, on[len(on)-1].reach()
	if plan, err := h.plan(0, h.bases); err == nil && plan.To >= reach {
		s, reach = &State{Plan: plan}, plan.To
	}
	var gap error
	for _, part := range h.parts {
		for _, p := range h.pieces {
			if p.Timeline == part.timeline && p.From < part.until && min(p.To, part.until) > reach {
				gap = &Gap{part.timeline, reach, max(p.From, reach)}
				break
			}
		}
	}
	if gap != nil {
		return nil, &NewestStateError{gap, s}
	}
	return s, nil
}

// strayed returns an error for each timeline whose object is lost: another timeline, a backup or a log piece still
// names the timeline. It ignores backups from before the first timeline.
func (r *Repository) strayed(ctx context.Context, timelines []Timeline, backups []*Manifest, pieces []Piece) (list []error, err error) {
	known := map[string]bool{"": true}
	for i := range timelines {
		known[timelines[i].ID] = true
	}
	miss := func(id, who string) {
		if !known[id] {
			known[id] = true
			list = append(list, fmt.Errorf("%s belongs to the timeline (history of commits) %s, but the object %s…-%s, which describes this timeline, is missing in the backup location", who, id, timelineDir, id))
		}
	}
	for i := range timelines {
		if t := &timelines[i]; t.ForkedAt > 0 {
			miss(t.Parent, t.object())
		}
	}
	first, noLog := firstBegan(timelines), len(timelines)+len(pieces) == 0
	if noLog {
		for _, err := range r.objects.List(ctx, timelineDir) { // a term whose timeline is missing shows that the timeline was lost
			if err != nil {
				return nil, err
			}
			noLog = false
		}
	}
	for _, m := range backups {
		if span := m.history(); span != nil && !noLog && !m.StartedAt.Before(first) {
			miss(span.Timeline, backupDir+m.ID)
		}
	}
	for i := range pieces {
		miss(pieces[i].Timeline, logDir+pieces[i].Timeline)
	}
	return list, nil
}

// Newest returns the newest complete backup of the newest timeline and its ancestors. It ignores backups with an
// unreadable manifest.
func (r *Repository) Newest(ctx context.Context) (*Manifest, error) {
	all, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	l, err := r.newestLine(ctx)
	if err != nil {
		return nil, err
	}
	switch on, off := l.split(all.Complete); {
	case len(on) > 0:
		return on[len(on)-1], nil
	case len(off) > 0:
		return nil, ErrNoneYet
	}
	return nil, ErrNone
}
