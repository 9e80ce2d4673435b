package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"edgetable/core/edm"
)

// Plan says how to restore the state at one moment: a backup and the log after it.
type Plan struct {
	Base     *Manifest
	Steps    []Step
	Timeline string    // timeline of the moment
	To       edm.Ticks // the moment: every commit with a number up to it, and none above
	Above    edm.Ticks // the highest number that the place knows of
}

// Step is a piece of the log. A restore needs its commits with numbers in (After, Until].
type Step struct {
	Piece
	After, Until edm.Ticks
}

// history is what a place has of one line of timelines.
type history struct {
	line
	bases  []*Manifest // backups with a span, oldest first
	pieces []Piece     // pieces of all timelines
}

// historyOf reads the backups, and the names of the pieces, of the line that leads to a timeline; "" means the newest
// one.
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

// ErrNoLog means that a log was never shipped to the place.
var ErrNoLog = errors.New("the place has no log: 'edgetable serve' with --backup-log ships it")

// from returns the steps that restore a moment from a backup. If the log has a gap before that moment, they end
// there.
func (h *history) from(m *Manifest, to edm.Ticks) (steps []Step, end edm.Ticks, timeline string, gap *Gap) {
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

// quiet returns the number up to which a timeline certainly has no commits after a given one. Later backups of an
// idle store show this.
func (h *history) quiet(timeline string, after edm.Ticks) edm.Ticks {
	for _, m := range h.bases {
		if m.Log.Timeline == timeline && m.Log.High <= after {
			after = max(after, m.Log.Quiet)
		}
	}
	return after
}

// PlanRestore finds out how to restore a moment; 0 means the newest one that can be restored. id is the beginning of
// the name of the backup to start from; "" means the best one. PlanRestore reads the names of pieces, but not the
// pieces.
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
			return nil, fmt.Errorf("the log does not continue backup %s", m.ID)
		}
		bases = []*Manifest{m}
	}
	return h.plan(to, bases)
}

// plan plans a restore that starts from one of the given backups.
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
		steps, end, at, gap := h.from(m, to)
		switch {
		case newest && end >= m.Log.High:
			to = end
		case gap == nil:
		case end >= m.Log.High && h.quiet(at, end) >= to:
			to = end // there are no commits until then
		default:
			if problem == nil {
				problem = fmt.Errorf("%s cannot be restored: %w", moment(to), gap)
			}
			continue // an older backup may lead there over another timeline
		}
		return &Plan{Base: m, Steps: steps, Timeline: at, To: to, Above: h.highest()}, nil
	}
	if problem == nil {
		problem = fmt.Errorf("%s cannot be restored: every backup that the log continues is newer", moment(to))
	}
	if ranges := h.ranges(); len(ranges) > 0 {
		problem = fmt.Errorf("%w; what can be restored is %s", problem, ranges)
	}
	return nil, problem
}

func moment(to edm.Ticks) string {
	if to == edm.MaxDateTime {
		return "the newest state"
	}
	return to.String()
}

// highest returns the highest number known in the place.
func (h *history) highest() (n edm.Ticks) {
	for i := range h.pieces {
		n = max(n, h.pieces[i].To)
	}
	for _, m := range h.bases {
		n = max(n, m.Log.High)
	}
	return n
}

// Highest returns the highest number known in the place.
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

// Latest returns the highest number that backups of a timeline contain. The log up to it may be removed.
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

// Ranges lists the moments that can be restored, as ranges.
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
		_, end, timeline, _ := h.from(m, edm.MaxDateTime)
		if end < m.Log.High {
			continue
		}
		end = h.quiet(timeline, end)
		if n := len(list); n > 0 && list[n-1][1] >= m.Log.High {
			list[n-1][1] = max(list[n-1][1], end)
		} else {
			list = append(list, [2]edm.Ticks{m.Log.High, end})
		}
	}
	return list
}

// Ranges returns the moments that can be restored on the line of the newest timeline. It
// reads names and manifests, not the log.
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

// Log returns the log of the line that leads to a timeline, as far as it exists. "" means the newest timeline. to is
// the last moment, or 0 for the whole log.
func (r *Repository) Log(ctx context.Context, timeline string, to edm.Ticks) (steps []Step, err error) {
	h, err := r.historyOf(ctx, timeline)
	if err != nil {
		return nil, err
	}
	to = cmp.Or(to, edm.MaxDateTime)
	var at edm.Ticks
	for _, s := range h.parts {
		for _, p := range h.pieces {
			if step := (Step{p, max(p.From, at), min(p.To, s.until, to)}); p.Timeline == s.timeline && step.After < step.Until {
				steps = append(steps, step)
			}
		}
		at = s.until
	}
	return steps, nil
}

// Leads returns the number up to which the line of the newest timeline shares the commits of another timeline, and
// the timeline that continues it there. ok is false if the other timeline is not on the line.
func (r *Repository) Leads(ctx context.Context, timeline string) (until edm.Ticks, next string, ok bool, err error) {
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
