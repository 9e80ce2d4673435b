package repository

import (
	"context"
	"fmt"
	"slices"
	"time"

	"edgetable/core/edm"
)

// segment contains the commits of one timeline up to a number. The segments of a timeline and its ancestors form a
// line.
type segment struct {
	timeline string
	until    edm.Ticks
}

// line contains the segments of a timeline and its known ancestors, oldest first. The last segment has no limit.
type line struct {
	parts []segment
	// branched is when the location's second timeline began, or zero. An older backup belongs to the line even if it
	// names no timeline.
	branched time.Time
	first    time.Time // when the location's first timeline began: see firstBegan
}

// firstBegan returns when the location's first timeline began, or zero. An older backup may name a timeline of another
// location.
func firstBegan(all []Timeline) time.Time {
	if len(all) == 0 || all[0].Number != 1 {
		return time.Time{}
	}
	return all[0].StartedAt
}

// lineOf returns a timeline with its ancestors.
func lineOf(all []Timeline, id string) (l line, err error) {
	until := edm.MaxDateTime
	for range len(all) + 1 {
		at := slices.IndexFunc(all, func(t Timeline) bool { return t.ID == id })
		if at < 0 {
			break
		}
		t := &all[at]
		if t.damage != nil {
			return l, fmt.Errorf("%s is damaged: %w", t.object(), t.damage)
		}
		l.parts = append(l.parts, segment{id, until})
		if t.Parent == "" || t.ForkedAt == 0 {
			break
		}
		id, until = t.Parent, min(until, t.ForkedAt)
	}
	if len(l.parts) == 0 {
		return l, fmt.Errorf("the backup location has no timeline (history of commits) with the ID %s", id)
	}
	slices.Reverse(l.parts)
	if l.first = firstBegan(all); len(all) > 1 {
		l.branched = all[1].StartedAt
	}
	return l, nil
}

// newestLine returns the newest timeline with its ancestors. The result is empty if the backup location has no timeline.
func (r *Repository) newestLine(ctx context.Context) (l line, err error) {
	all, err := r.Timelines(ctx)
	if err != nil || len(all) == 0 {
		return l, err
	}
	return lineOf(all, all[len(all)-1].ID)
}

// part returns the index of the segment that contains the state of a backup, or -1 if there is no such segment.
func (l *line) part(span *LogSpan) int {
	return slices.IndexFunc(l.parts, func(s segment) bool {
		return span != nil && span.Timeline == s.timeline && span.High <= s.until
	})
}

// contains reports whether a backup belongs to the timeline or to one of its ancestors. If the location has no
// timelines, the result is true.
func (l *line) contains(m *Manifest) bool {
	switch span := m.history(); {
	case len(l.parts) == 0:
		return true
	case span == nil:
		return l.branched.IsZero() || m.StartedAt.Before(l.branched)
	default:
		return l.part(span) >= 0 || m.StartedAt.Before(l.first)
	}
}

func (l *line) split(backups []*Manifest) (on, off []*Manifest) {
	for _, m := range backups {
		if l.contains(m) {
			on = append(on, m)
		} else {
			off = append(off, m)
		}
	}
	return on, off
}
