package transfer

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"edgetable/functions/edgetable/remote"
)

// splits is the number of ranges into which a table is divided at first.
const splits = 64

// wakeEvery is a number of entities: after so many of a part, idle workers check
// again whether it is worth dividing.
const wakeEvery = 1000

// worthDividing is the least number of remaining entities for which a part is divided.
const worthDividing = 4000

// scan is a table whose parts several workers read. An idle worker divides the part
// with the most remaining entities.
type scan struct {
	c     *remote.Client // is asked for the keys
	table string
	note  func(p, end *part) error // gets a part and its end, before somebody reads that; may be nil

	mu     sync.Mutex
	change *sync.Cond
	parts  []*part // in the order in which they were found
	taken  map[*part]*take
	active int // parts that are read
}

// take is a part that a worker has.
type take struct {
	dividing bool // a worker looks for a key in its middle
	whole    bool // it cannot be divided
}

func newScan(c *remote.Client, table string, parts []*part) *scan {
	s := &scan{c: c, table: table, parts: parts, taken: map[*part]*take{}}
	s.change = sync.NewCond(&s.mu)
	for _, p := range parts {
		p.scan = s
	}
	return s
}

// scanAll splits a table and reads it.
func scanAll(ctx context.Context, c *remote.Client, q remote.Query, workers int, progress *Progress, do func(ctx context.Context, p *part) error) (*scan, error) {
	ranges, err := Split(ctx, c, q.Table, q.Filter, splits)
	if err != nil {
		return nil, err
	}
	s := newScan(c, q.Table, nil)
	for _, r := range ranges {
		s.add(r)
	}
	progress.begin(s)
	defer progress.end()
	return s, s.run(ctx, workers, do)
}

// add adds a part for a range.
func (s *scan) add(r Range) *part {
	p := newPart(len(s.parts), r)
	p.scan = s
	s.parts = append(s.parts, p)
	return p
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
			s.active++
			s.taken[s.parts[i]] = &take{}
			return s.parts[i], nil
		}
		if s.active == 0 {
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
		if t == nil || t.dividing || t.whole {
			continue
		}
		if left := p.left(); left >= most {
			longest, most = p, left
		}
	}
	return longest
}

// divide makes a part of the second half of the rest of another. It releases the
// lock while it asks the service.
func (s *scan) divide(ctx context.Context, p *part) error {
	t := s.taken[p]
	t.dividing = true
	p.mu.Lock()
	at := p.last()
	rest := p.span.Behind(at)
	p.mu.Unlock()
	s.mu.Unlock()
	_, right, ok, err := rest.divide(ctx, s.c, s.table, at)
	s.mu.Lock()
	t.dividing, t.whole = false, !ok
	if err != nil || !ok {
		return err
	}
	p.mu.Lock() // until the journal has it: then p is not done without its end
	defer p.mu.Unlock()
	if p.ended || p.last().compare(right.From) >= 0 {
		return nil
	}
	end := newPart(len(s.parts), right)
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
	s.active--
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
		left := p.left()
		p.mu.Lock()
		rows := float64(p.rows)
		read += rows
		if p.ended || rows >= wakeEvery {
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
