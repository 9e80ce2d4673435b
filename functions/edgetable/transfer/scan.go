package transfer

import (
	"context"
	"iter"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
)

// Tests have smaller numbers, so that small tables are divided, too.
var (
	// wakeEvery is a number of entities: after so many of a part, idle workers check
	// again whether it is worth dividing.
	wakeEvery int64 = 1000
	// worthDividing is the least number of remaining entities for which a part is divided.
	worthDividing = 4000
)

// scan is a table whose parts several workers read. An idle worker divides the part
// with the most remaining entities.
type scan struct {
	find prober
	note func(p, end *part) error // gets a part and its end, before somebody reads that; may be nil

	mu     sync.Mutex
	change *sync.Cond
	parts  []*part // in the order in which they were found
	taken  map[*part]*take
	cost   probeCost
}

// take is a part that a worker has.
type take struct {
	stop  func() // ends the search for a key in its middle, nil if there is none
	whole bool   // it cannot be divided
}

func newScan(find prober) *scan {
	s := &scan{find: find, taken: map[*part]*take{}}
	s.change = sync.NewCond(&s.mu)
	return s
}

// of sets the parts.
func (s *scan) of(parts []*part) *scan {
	s.parts = parts
	for _, p := range parts {
		p.scan = s
	}
	return s
}

// scanAll reads a table.
func scanAll(ctx context.Context, c *remote.Client, q remote.Query, workers int, progress *Progress, do func(ctx context.Context, p *part) error) (*scan, error) {
	s := newScan(probes(c, q.Table))
	whole, err := wholeTable(ctx, s.probe, q.Filter)
	if err != nil {
		return nil, err
	}
	s.of([]*part{newPart(0, whole, firstRank)})
	progress.begin(s)
	defer progress.end()
	return s, s.run(ctx, workers, do)
}

// ReadParts reads the entities that match a query, in several parts at the same time. It returns
// what read returns for each part, in the order of their keys.
func ReadParts[T any](ctx context.Context, c *remote.Client, q remote.Query, workers int, progress *Progress, read func(list iter.Seq2[payload.Received, error]) (T, error)) ([]T, error) {
	var mu sync.Mutex
	found := map[*part]T{}
	s, err := scanAll(ctx, c, q, workers, progress, func(ctx context.Context, p *part) error {
		one, err := read(p.entities(ctx, c, q))
		mu.Lock()
		defer mu.Unlock()
		found[p] = one
		return err
	})
	if err != nil {
		return nil, err
	}
	var list []T
	for _, p := range inOrder(s.parts) {
		list = append(list, found[p])
	}
	return list, nil
}

// run calls do for each part that is not done, in so many workers. Do reads the
// part with entities, or with rest and pass.
func (s *scan) run(ctx context.Context, workers int, do func(ctx context.Context, p *part) error) error {
	g, ctx := errgroup.WithContext(ctx)
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	for range workers {
		g.Go(func() error {
			for {
				p, err := s.next(ctx)
				if p == nil || err != nil {
					return err
				}
				if err := do(ctx, p); err != nil {
					return err
				}
				s.finished(p)
			}
		})
	}
	return g.Wait()
}

// next returns a part to read, nil if all are done.
func (s *scan) next(ctx context.Context) (*part, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if i := slices.IndexFunc(s.parts, func(p *part) bool { return s.taken[p] == nil && !p.state.Done }); i >= 0 {
			s.cost.active(+1)
			s.taken[s.parts[i]] = &take{}
			return s.parts[i], nil
		}
		if s.cost.readers == 0 {
			return nil, nil
		}
		if p := s.longest(); p != nil {
			if err := s.divide(ctx, p); err != nil {
				return nil, err
			}
			continue
		}
		s.change.Wait()
	}
}

// longest is the part with the most remaining entities, if it is worth dividing.
func (s *scan) longest() (longest *part) {
	most := float64(worthDividing)
	for _, p := range s.parts {
		t := s.taken[p]
		if t == nil || t.stop != nil || t.whole {
			continue
		}
		if left, _ := p.left(); left >= most {
			longest, most = p, left
		}
	}
	return longest
}

// divide makes a part of the second half of the rest of another. It releases the
// lock while it asks the service.
func (s *scan) divide(ctx context.Context, p *part) error {
	t := s.taken[p]
	search, stop := context.WithCancel(ctx)
	defer stop()
	t.stop = stop
	p.mu.Lock()
	at := p.last()
	rest := p.span.Behind(at)
	p.mu.Unlock()
	s.mu.Unlock()
	_, right, ok, err := rest.divide(search, s.probe, at)
	s.mu.Lock()
	if search.Err() != nil && ctx.Err() == nil {
		return nil // p was read to its end meanwhile
	}
	t.stop, t.whole = nil, !ok
	if err != nil || !ok {
		return err
	}
	p.mu.Lock() // until the progress file has it: then p is not done without its end
	defer p.mu.Unlock()
	if p.span.end() == (Key{}) {
		p.span.High = right.High
	}
	if p.ended || p.last().compare(right.From) >= 0 {
		return nil
	}
	end := newPart(len(s.parts), right, rankBehind(p, s.parts))
	end.scan = s
	if s.note != nil {
		if err := s.note(p, end); err != nil {
			return err
		}
	}
	p.span.To, p.span.High, p.cut = right.From, Key{}, true
	s.parts = append(s.parts, end)
	s.change.Broadcast()
	return nil
}

func (s *scan) finished(p *part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cost.active(-1)
	if stop := s.taken[p].stop; stop != nil {
		stop()
	}
	delete(s.taken, p)
	p.state.Done = true
	s.change.Broadcast()
}

// wake makes workers that wait look again.
func (s *scan) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change.Broadcast()
}

// share estimates how much of the table has been read, from 0 to 1.
func (s *scan) share() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	read, all, known, unknown := 0.0, 0.0, 0.0, 0.0
	for _, p := range s.parts {
		left, bounded := p.left()
		p.mu.Lock()
		rows := float64(p.rows)
		read += rows
		if bounded {
			all += rows + left
			known++
		} else {
			unknown++
		}
		p.mu.Unlock()
	}
	if read == 0 || known == 0 {
		return 0
	}
	return min(read/(all+unknown*all/known), 1)
}

// inOrder returns parts in the order of their keys.
func inOrder(parts []*part) []*part {
	list := slices.Clone(parts)
	slices.SortFunc(list, func(a, b *part) int { return a.span.From.compare(b.span.From) })
	return list
}
