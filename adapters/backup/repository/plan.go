package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"edgetable/core/edm"
)

// Plan says how to restore the state at one moment: from a backup and the log after the backup.
type Plan struct {
	Base     *Manifest
	Steps    []Step
	Timeline string    // timeline to which the commit with the number To belongs
	To       edm.Ticks // highest commit number in the restored state, which has every commit up to this number
	Highest  edm.Ticks // highest commit number that the backup location contains
}

// Step is a log piece that a restore reads. The restore applies the commits of the piece with numbers in (Above, UpTo].
type Step struct {
	Piece
	Above, UpTo edm.Ticks
}

// history contains the backups and log pieces from which the states of a timeline and its ancestors can be restored.
type history struct {
	line
	bases  []*Manifest // backups that the log continues, oldest first
	pieces []Piece     // log pieces of all timelines
}

// historyOf reads the history of a timeline with its ancestors; "" means the newest timeline. It reads only the names
// of log pieces.
func (r *Repository) historyOf(ctx context.Context, timeline string) (*history, error) {
	timelines, err := r.Timelines(ctx)
	if err != nil {
		return nil, err
	}
	if len(timelines) == 0 {
		return nil, ErrNoLog
	}
	if timeline == "" {
		timeline = timelines[len(timelines)-1].ID
	}
	h := new(history)
	if h.line, err = lineOf(timelines, timeline); err != nil {
		return nil, err
	}
	all, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	h.setBases(all.Complete)
	h.pieces, err = r.Pieces(ctx, "")
	return h, err
}

func (h *history) setBases(backups []*Manifest) {
	for _, m := range backups {
		if h.part(m.Log) >= 0 {
			h.bases = append(h.bases, m)
		}
	}
}

// ErrNoLog means that no store has ever shipped its log to the backup location.
var ErrNoLog = errors.New("the backup location has no log: only 'edgetable serve' with --backup-log ships one")

// stepsFrom returns the steps of a restore from the backup m to a commit number. If the log has a gap before this
// number, the steps end at the gap.
func (h *history) stepsFrom(m *Manifest, to edm.Ticks) (steps []Step, end edm.Ticks, timeline string, gap *Gap) {
	end = m.Log.Low
	for _, s := range h.parts[h.part(m.Log):] {
		timeline = s.timeline
		limit := min(to, s.until)
		part, gap := chain(h.pieces, s.timeline, end, limit)
		for _, p := range part {
			steps = append(steps, Step{p, end, min(p.To, limit)})
			end = min(p.To, limit)
		}
		if gap != nil || end >= to {
			return steps, end, timeline, gap
		}
	}
	return steps, end, timeline, nil
}

// idleUntil returns the highest number N such that the timeline certainly has no commits in (number, N]. Backups of an
// idle store contain such numbers.
func (h *history) idleUntil(timeline string, number edm.Ticks) edm.Ticks {
	for _, m := range h.bases {
		if m.Log.Timeline == timeline && m.Log.High <= number {
			number = max(number, m.Log.Quiet)
		}
	}
	return number
}

// PlanRestore plans a restore to a commit number; 0 means the newest restorable state. It does not read log pieces.
//
// An empty timeline means the newest timeline. The parameter id is the beginning of the name of a backup, from which
// the restore must start; "" means any backup.
func (r *Repository) PlanRestore(ctx context.Context, to edm.Ticks, timeline, id string) (*Plan, error) {
	h, err := r.historyOf(ctx, timeline)
	if err != nil {
		return nil, err
	}
	bases := h.bases
	if id != "" {
		m, err := r.Find(ctx, id)
		if err != nil {
			return nil, err
		}
		if h.part(m.Log) < 0 {
			return nil, fmt.Errorf("the log does not contain the commits after backup %s", m.ID)
		}
		bases = []*Manifest{m}
	}
	return h.plan(to, bases)
}

func (h *history) plan(to edm.Ticks, bases []*Manifest) (*Plan, error) {
	newest := to == 0
	if newest {
		to = edm.MaxDateTime
	}
	var problem error
	for _, m := range slices.Backward(bases) {
		if m.Log.High > to {
			continue
		}
		steps, end, at, gap := h.stepsFrom(m, to)
		switch {
		case newest && end >= m.Log.High:
			to = end
		case gap == nil:
		case end >= m.Log.High && h.idleUntil(at, end) >= to:
			to = end // the timeline has no commits with numbers in (end, to]
		default:
			if problem == nil {
				problem = fmt.Errorf("%s cannot be restored: %w", moment(to), gap)
			}
			continue // an older backup may reach this moment with the log of another timeline
		}
		return &Plan{Base: m, Steps: steps, Timeline: at, To: to, Highest: h.highest()}, nil
	}
	if problem == nil {
		problem = fmt.Errorf("%s cannot be restored: every backup from which the log can be applied is newer", moment(to))
	}
	if ranges := h.ranges(); len(ranges) > 0 {
		problem = fmt.Errorf("%w; moments that can be restored: %s", problem, ranges)
	}
	return nil, problem
}

func moment(to edm.Ticks) string {
	if to == edm.MaxDateTime {
		return "the newest state"
	}
	return to.String()
}

func (h *history) highest() (n edm.Ticks) {
	for i := range h.pieces {
		n = max(n, h.pieces[i].To)
	}
	for _, m := range h.bases {
		n = max(n, m.Log.High)
	}
	return n
}

// Highest returns the highest commit number known in the backup location.
func (r *Repository) Highest(ctx context.Context) (edm.Ticks, error) {
	all, err := r.List(ctx)
	if err != nil && !errors.Is(err, ErrNone) {
		return 0, err
	}
	h := new(history)
	if all != nil {
		for _, m := range all.Complete {
			if m.Log != nil {
				h.bases = append(h.bases, m)
			}
		}
	}
	h.pieces, err = r.Pieces(ctx, "")
	return h.highest(), err
}

// Latest returns the highest commit number in the backups of a timeline, or 0 if there is no such backup.
func (r *Repository) Latest(ctx context.Context, timeline string) (n edm.Ticks, err error) {
	all, err := r.List(ctx)
	if errors.Is(err, ErrNone) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, m := range all.Complete {
		if span := m.history(); span != nil && span.Timeline == timeline {
			n = max(n, span.High)
		}
	}
	return n, nil
}

// Ranges lists the ranges of moments that can be restored.
type Ranges [][2]edm.Ticks

func (r Ranges) String() (text string) {
	for i, one := range r {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s to %s", one[0], one[1])
	}
	return text
}

func (h *history) ranges() (list Ranges) {
	for _, m := range h.bases {
		_, end, timeline, _ := h.stepsFrom(m, edm.MaxDateTime)
		if end < m.Log.High {
			continue
		}
		end = h.idleUntil(timeline, end)
		if n := len(list); n > 0 && list[n-1][1] >= m.Log.High {
			list[n-1][1] = max(list[n-1][1], end)
		} else {
			list = append(list, [2]edm.Ticks{m.Log.High, end})
		}
	}
	return list
}

// Ranges returns the moments that can be restored from the newest timeline and its ancestors. It reads names and
// manifests, but not the log.
func (r *Repository) Ranges(ctx context.Context) (Ranges, error) {
	h, err := r.historyOf(ctx, "")
	if errors.Is(err, ErrNoLog) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return h.ranges(), nil
}

// Log returns the existing log of a timeline and its ancestors, up to a commit number. An empty timeline means the
// newest one, and 0 the whole log.
func (r *Repository) Log(ctx context.Context, timeline string, to edm.Ticks) (steps []Step, err error) {
	h, err := r.historyOf(ctx, timeline)
	if err != nil {
		return nil, err
	}
	to = cmp.Or(to, edm.MaxDateTime)
	var at edm.Ticks
	for _, s := range h.parts {
		for _, p := range h.pieces {
			if step := (Step{p, max(p.From, at), min(p.To, s.until, to)}); p.Timeline == s.timeline && step.Above < step.UpTo {
				steps = append(steps, step)
			}
		}
		at = s.until
	}
	return steps, nil
}

// PathToNewest reports how a timeline leads to the newest timeline. Both have the same commits up to the number
// lastShared, and the result child is the ID of the timeline that follows the given one. ok is false if the newest
// timeline does not descend from the given one.
func (r *Repository) PathToNewest(ctx context.Context, timeline string) (lastShared edm.Ticks, child string, ok bool, err error) {
	l, err := r.newestLine(ctx)
	if err != nil || len(l.parts) == 0 {
		return 0, "", false, err
	}
	i := slices.IndexFunc(l.parts, func(s segment) bool { return s.timeline == timeline })
	if i < 0 || i+1 == len(l.parts) {
		return edm.MaxDateTime, timeline, i >= 0, nil
	}
	return l.parts[i].until, l.parts[i+1].timeline, true, nil
}
