package repository

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"edgetable/adapters/backup/repository/internal/seal"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// LogOwner says which server may ship its log to a backup location: the last server that has begun a term (a run) of
// the newest timeline.
type LogOwner struct {
	Timeline string // ID of the newest timeline; "" if the backup location has no timeline
	Term     commitlog.Term
	names    []Timeline // timelines according to the object names, newest last
}

// LogOwner returns which server may ship its log. It lists object names and reads no objects.
func (r *Repository) LogOwner(ctx context.Context) (now LogOwner, err error) {
	terms := map[string]commitlog.Term{}
	for o, err := range r.objects.List(ctx, timelineDir) {
		if err != nil {
			return now, err
		}
		if t, ok := parseTimeline(o.Name); ok {
			now.names = append(now.names, t)
		} else if of, t, ok := parseTerm(o.Name); ok && (t.Number > terms[of].Number || t.Number == terms[of].Number && t.Name > terms[of].Name) {
			terms[of] = t
		}
	}
	slices.SortFunc(now.names, func(a, b Timeline) int { return strings.Compare(a.object(), b.object()) })
	newest := now.newest()
	now.Timeline, now.Term = newest.ID, terms[newest.ID]
	return now, nil
}

func (now *LogOwner) newest() Timeline {
	if len(now.names) == 0 {
		return Timeline{}
	}
	return now.names[len(now.names)-1]
}

// Check returns an error if the server with this timeline and term must not ship its log.
//
// [ErrReplaced] means that another server has replaced it. Any other error proves nothing; for example, the wrong disk
// may be mounted.
func (now *LogOwner) Check(timeline string, term commitlog.Term) error {
	switch {
	case now.Timeline == timeline && now.Term.IsAfter(term):
		return &Replaced{"a copy of this data directory was started later"}
	case now.Timeline == timeline:
		return nil
	case now.Timeline == "":
		return ErrEmpty
	case slices.ContainsFunc(now.names, func(t Timeline) bool { return t.ID == timeline }):
		return &Replaced{fmt.Sprintf("the newest timeline (history of commits) in the backup location is %s, but this store has the timeline %s", now.Timeline, timeline)}
	}
	return ErrElsewhere
}

// BeginTerm stores a term of a timeline. From then on, only the server with this term may ship its log. The call can be
// repeated.
func (r *Repository) BeginTerm(ctx context.Context, timeline string, term commitlog.Term, from string) error {
	now, err := r.LogOwner(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(now.names, func(t Timeline) bool { return t.ID == timeline })
	if i < 0 {
		return ErrElsewhere
	}
	own := now.names[i].object()
	b, err := seal.Encode(begunTerm{from, time.Now().UTC()})
	if err != nil {
		return err
	}
	if err := r.objects.Put(ctx, own+suffixOf(term), b); err != nil {
		return err
	}
	for o, err := range r.objects.List(ctx, own+".") {
		if err != nil {
			return err
		}
		if _, t, ok := parseTerm(o.Name); ok && t.Number < term.Number {
			if err := r.objects.Delete(ctx, o.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// begunTerm is the content of the object of a term. No program reads the content; it is only for the operator.
type begunTerm struct {
	From      string    `json:"from"` // host and data directory of the server
	StartedAt time.Time `json:"began"`
}

// NewTerm returns a new term that follows the given term.
func NewTerm(after commitlog.Term) commitlog.Term {
	return commitlog.Term{Number: after.Number + 1, Name: NewTimelineID()}
}

// suffixOf returns the suffix that a term adds to the object name of its timeline. Earlier versions of edgetable ignore
// the objects of terms.
func suffixOf(t commitlog.Term) string { return fmt.Sprintf(".%08d-%s", t.Number, t.Name) }

func parseTerm(name string) (timeline string, t commitlog.Term, ok bool) {
	line, rest, _ := strings.Cut(name, ".")
	of, ok := parseTimeline(line)
	if _, err := fmt.Sscanf(rest, "%08d-%s", &t.Number, &t.Name); err != nil || !ok {
		return "", commitlog.Term{}, false
	}
	return of.ID, t, "."+rest == suffixOf(t) && t.Number > 0 && isTimelineID(t.Name)
}

// ProvesCopies reports whether the log piece p proves that two copies of a data directory ship their logs to one
// timeline. The parameters synced and last are from the previous piece.
func ProvesCopies(synced edm.Ticks, last commitlog.Term, p *Piece) bool {
	if p.Term.Number == 0 || last.Number == 0 || p.Term == last {
		return false
	}
	// Two copies can begin terms with the same number. Or a copy with an earlier term continues to ship; if its piece
	// were only delayed, Synced would be lower.
	return p.Term.Number == last.Number || p.Term.Number < last.Number && p.Synced > synced
}
