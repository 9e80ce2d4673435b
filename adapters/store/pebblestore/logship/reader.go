package logship

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"edgetable/core/edm"
)

// Reader reads the commits of an open store from its logs in the order of their numbers, which is not that of the
// logs: commits of different stripes may reach the log in another order than they were registered. It must be used by
// one goroutine at a time.
type Reader struct {
	logs    *Keeper
	after   edm.Ticks            // commits up to it were returned, or are not wanted
	current tail                 // the log that is being read
	commits []Commit             // commits already read, ordered by number: those returned last, then the pending ones
	last    int                  // number of commits returned last
	safe    edm.Ticks            // all commits up to this number were read
	end     bool                 // there are no more commits up to that number
	memory  memory               // holds the records of commits
	highest map[uint32]edm.Ticks // highest commit number in each log that was read
	later   map[uint32]*outlook
	scratch []byte // for reading outlooks
}

// outlook is what is known about a log after the current one.
type outlook struct {
	tail
	least  edm.Ticks // lowest commit number found in it
	closed bool      // it was read completely
}

// Read returns a reader of the commits with numbers above after. The logs must have them: see
// [Timeline].
func (k *Keeper) Read(after edm.Ticks) *Reader {
	return &Reader{logs: k, after: after, highest: map[uint32]edm.Ticks{}, later: map[uint32]*outlook{}}
}

// Next returns commits with numbers in (from, to], of about size bytes or less. No commit between from and to is
// missing. It returns none if there are no more up to upTo, a number up to which all commits are durable. The commits
// are valid until the next call.
func (r *Reader) Next(upTo edm.Ticks, size int) (list []Commit, from, to edm.Ticks, err error) {
	from = r.after
	r.commits, r.last = slices.Delete(r.commits, 0, r.last), 0
	if !r.ready() {
		if upTo <= from {
			return nil, from, from, nil
		}
		if err := r.fill(upTo); err != nil || !r.ready() {
			return nil, from, from, err
		}
	}
	for bytes := 0; r.ready() && bytes < size; r.last++ {
		bytes += len(r.commits[r.last].Record)
	}
	list = r.commits[:r.last]
	if r.after = list[r.last-1].Number; r.end && !r.ready() {
		r.after = r.safe
	}
	return list, from, r.after, nil
}

// ready reports whether a commit can be returned.
func (r *Reader) ready() bool { return r.last < len(r.commits) && r.commits[r.last].Number <= r.safe }

// fill reads until a commit can be returned, or there are no more commits.
func (r *Reader) fill(upTo edm.Ticks) error {
	r.memory.reuse(r.commits)
	for {
		files, err := r.logs.all(r.current.log)
		if err != nil || len(files) == 0 {
			return err
		}
		if files[0] != r.current.log {
			r.current = tail{log: files[0]}
		}
		if err := r.read(); err != nil {
			return err
		}
		if r.safe, err = r.before(upTo, files[1:]); err != nil {
			return err
		}
		if r.end = len(files) == 1; r.end || r.ready() {
			return nil
		}
		r.current = tail{log: files[1]}
		delete(r.later, files[1])
	}
}

// read reads what was added to the current log.
func (r *Reader) read() error {
	f, err := r.logs.openLog(r.current.log)
	if err != nil {
		return err
	}
	err = r.current.read(f, r.memory.next, func(c Commit) {
		r.highest[r.current.log] = max(r.highest[r.current.log], c.Number)
		if c.Number > r.after {
			r.commits = append(r.commits, c)
		}
	})
	slices.SortFunc(r.commits, func(a, b Commit) int { return cmp.Compare(a.Number, b.Number) })
	return errors.Join(err, f.Close())
}

// before returns a number up to which all commits have been read, although some later logs have not been read.
func (r *Reader) before(upTo edm.Ticks, later []uint32) (edm.Ticks, error) {
	for i, n := range later {
		o := r.later[n]
		if o == nil {
			o = &outlook{tail: tail{log: n}, least: math.MaxInt64}
			r.later[n] = o
		}
		if !o.closed {
			if err := r.lookAt(o); err != nil {
				return 0, err
			}
			o.closed = i < len(later)-1
		}
		upTo = min(upTo, o.least-1)
	}
	return upTo, nil
}

func (r *Reader) lookAt(o *outlook) error {
	f, err := r.logs.openLog(o.log)
	if err != nil {
		return err
	}
	err = o.read(f, func(size int) []byte {
		r.scratch = slices.Grow(r.scratch[:0], size)
		return r.scratch[:size]
	}, func(c Commit) { o.least = min(o.least, c.Number) })
	return errors.Join(err, f.Close())
}

// Shipped records that the commits up to a number are safe elsewhere, so logs can be removed.
func (r *Reader) Shipped(to edm.Ticks) error {
	next := r.current.log
	for n, highest := range r.highest {
		if highest > to {
			next = min(next, n)
		}
	}
	maps.DeleteFunc(r.highest, func(n uint32, _ edm.Ticks) bool { return n < next })
	return r.logs.release(next, to)
}
