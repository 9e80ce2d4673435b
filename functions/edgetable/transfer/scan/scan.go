package scan

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/internal/size"
	"edgetable/functions/edgetable/transfer/ranges"
)

// scan reads a table with concurrent workers, each in its own range. An idle worker divides the range with the most
// unread entities and takes over its upper part.
type scan struct {
	find ranges.Prober
	note func(p, end *Task) error // callback when p is divided; the new task end has the upper part, which no worker reads yet

	mu     sync.Mutex
	change *sync.Cond
	tasks  []*Task // tasks in the order of creation
	taken  map[*Task]*readerState
	cost   probeCost
}

// readerState is the state of a range that a worker reads.
type readerState struct {
	stop  func() // cancels the search for a key at which to divide the range; nil if there is no search
	whole bool   // true if no key was found at which to divide the range
}

func newScan(find ranges.Prober) *scan {
	s := &scan{find: find, taken: map[*Task]*readerState{}, note: func(_, _ *Task) error { return nil }}
	s.change = sync.NewCond(&s.mu)
	return s
}

// setTasks sets the ranges to read, and returns s.
func (s *scan) setTasks(tasks []*Task) *scan {
	s.tasks = tasks
	for _, p := range tasks {
		p.wake = s.wake
	}
	return s
}

// run calls a function once for each unfinished range, in worker goroutines. The function must read the range with
// [Task.Entities], or with [Task.Rest] and [Task.Pass].
func (s *scan) run(ctx context.Context, workers int, do func(ctx context.Context, p *Task) error) error {
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

// next returns a range to read, or nil if all ranges are done. It blocks while all unfinished ranges are being read and
// none can be divided.
func (s *scan) next(ctx context.Context) (*Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if i := slices.IndexFunc(s.tasks, func(p *Task) bool { return s.taken[p] == nil && !p.State().Done }); i >= 0 {
			s.cost.addReaders(+1)
			s.taken[s.tasks[i]] = &readerState{}
			return s.tasks[i], nil
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

// longest returns the range with the most unread entities, or nil if none is worth dividing.
func (s *scan) longest() (longest *Task) {
	most := float64(size.WorthDividing)
	for _, p := range s.tasks {
		t := s.taken[p]
		if t == nil || t.stop != nil || t.whole {
			continue
		}
		if left, _ := p.remainingRows(); left >= most {
			longest, most = p, left
		}
	}
	return longest
}

// divide splits the unread part of p and adds the upper half as a new range. mu must be held; divide releases it during
// requests to the service.
func (s *scan) divide(ctx context.Context, p *Task) error {
	t := s.taken[p]
	search, stop := context.WithCancel(ctx)
	defer stop()
	t.stop = stop
	rest, at := p.unreadPart()
	s.mu.Unlock()
	_, right, ok, err := rest.Divide(search, s.probe, at)
	s.mu.Lock()
	if search.Err() != nil && ctx.Err() == nil {
		return nil // the range was finished in the meantime
	}
	t.stop, t.whole = nil, !ok
	if err != nil || !ok {
		return err
	}
	end := newTask(len(s.tasks), right, rankBehind(p, s.tasks))
	end.wake = s.wake
	given, err := p.giveAway(end, func() error { return s.note(p, end) })
	if err != nil || !given {
		return err
	}
	s.tasks = append(s.tasks, end)
	s.change.Broadcast()
	return nil
}

// probe sends a query for a key at which to divide a range. Because probes can delay the readers, it first waits as
// long as probeCost demands.
func (s *scan) probe(ctx context.Context, q remote.Query) (ranges.Key, bool, error) {
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	s.mu.Lock()
	for ctx.Err() == nil {
		due := s.cost.untilNextProbe()
		if due <= 0 {
			break
		}
		timer := time.AfterFunc(due, s.wake)
		s.change.Wait()
		timer.Stop()
	}
	s.mu.Unlock()
	began := time.Now()
	k, ok, err := s.find(ctx, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cost.recordProbe(time.Since(began))
	return k, ok, err
}

func (s *scan) finished(p *Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cost.addReaders(-1)
	if stop := s.taken[p].stop; stop != nil {
		stop()
	}
	delete(s.taken, p)
	p.finish()
	s.change.Broadcast()
}

// wake wakes the workers that wait in next or probe.
func (s *scan) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change.Broadcast()
}

// readShare estimates the share of the table that has been read, from 0 to 1.
func (s *scan) readShare() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	read, all, known, unknown := 0.0, 0.0, 0.0, 0.0
	for _, p := range s.tasks {
		rows := float64(p.read())
		read += rows
		if n, ok := p.size(); ok {
			all += n
			known++
		} else {
			unknown++
		}
	}
	if read == 0 || known == 0 {
		return 0
	}
	return min(read/(all+unknown*all/known), 1)
}

// InOrder returns ranges in key order.
func InOrder(tasks []*Task) []*Task {
	list := slices.Clone(tasks)
	slices.SortFunc(list, func(a, b *Task) int { return a.span.From.Compare(b.span.From) })
	return list
}

// rankBehind returns a rank between p and the next range in key order.
func rankBehind(p *Task, tasks []*Task) string {
	next := ""
	for _, other := range tasks {
		if other.rank > p.rank && (next == "" || other.rank < next) {
			next = other.rank
		}
	}
	return ranges.RankBetween(p.rank, next)
}
