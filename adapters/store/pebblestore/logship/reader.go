package logship

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// Reader returns the commits of an open store in the order of their numbers, which may differ from their order in the
// logs. It is not safe for concurrent use.
type Reader struct {
	logs    *Keeper
	after   edm.Ticks            // commits up to this number were already returned, or were not requested
	current tail                 // the log that is being read
	commits []commitlog.Commit   // commits read from the logs, ordered by number: first the result of the last call of Next, then the pending commits
	last    int                  // number of commits that the last call of Next returned
	safe    edm.Ticks            // all commits up to this number were read from the logs
	end     bool                 // whether the newest log was read to its end; r.commits then has all existing commits with numbers up to r.safe
	memory  memory               // memory for the records of the current log
	highest map[uint32]edm.Ticks // highest commit number in each log that was read
	later   map[uint32]*outlook
	scratch []byte // memory for the records of later logs
}

// outlook contains the lowest commit number in a log after the current log. The log may still grow, and new commits may
// have lower numbers.
type outlook struct {
	tail
	least  edm.Ticks // lowest commit number found so far
	closed bool      // whether the whole log was read
}

// Read returns a Reader of the commits with numbers > after. The logs must still contain these commits:
// [commitlog.Timeline].Since must be <= after.
func (k *Keeper) Read(after edm.Ticks) *Reader {
	return &Reader{logs: k, after: after, highest: map[uint32]edm.Ticks{}, later: map[uint32]*outlook{}}
}

// Next returns, in order, the commits with numbers in (from, to], about size bytes in total. They are valid until the
// next call.
//
// All commits up to upTo must be durable. If there are no further commits up to upTo, the list is empty.
func (r *Reader) Next(upTo edm.Ticks, size int) (list []commitlog.Commit, from, to edm.Ticks, err error) {
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

// ready reports whether Next can return a commit without reading the logs.
func (r *Reader) ready() bool { return r.last < len(r.commits) && r.commits[r.last].Number <= r.safe }

// fill reads the logs until Next can return a commit, or until the logs have no more commits.
func (r *Reader) fill(upTo edm.Ticks) error {
	r.memory.reuse(r.commits)
	for {
		files, err := r.logs.listLogs(r.current.log)
		if err != nil || len(files) == 0 {
			return err
		}
		if files[0] != r.current.log {
			r.current = tail{log: files[0]}
		}
		if err := r.read(); err != nil {
			return err
		}
		if r.safe, err = r.readUpTo(upTo, files[1:]); err != nil {
			return err
		}
		if r.end = len(files) == 1; r.end || r.ready() {
			return nil
		}
		r.current = tail{log: files[1]}
		delete(r.later, files[1])
	}
}

// read reads the commits that were added to the current log since the last read.
func (r *Reader) read() error {
	f, err := r.logs.openLog(r.current.log)
	if err != nil {
		return err
	}
	err = r.current.read(f, r.memory.next, func(c commitlog.Commit) {
		r.highest[r.current.log] = max(r.highest[r.current.log], c.Number)
		if c.Number > r.after {
			r.commits = append(r.commits, c)
		}
	})
	slices.SortFunc(r.commits, func(a, b commitlog.Commit) int { return cmp.Compare(a.Number, b.Number) })
	return errors.Join(err, f.Close())
}

// readUpTo returns the highest number, at most upTo, up to which all commits were read. It is lower than all commit
// numbers in later logs.
func (r *Reader) readUpTo(upTo edm.Ticks, laterLogs []uint32) (edm.Ticks, error) {
	for i, n := range laterLogs {
		o := r.later[n]
		if o == nil {
			o = &outlook{tail: tail{log: n}, least: math.MaxInt64}
			r.later[n] = o
		}
		if !o.closed {
			if err := r.lookAt(o); err != nil {
				return 0, err
			}
			o.closed = i < len(laterLogs)-1
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
	}, func(c commitlog.Commit) { o.least = min(o.least, c.Number) })
	return errors.Join(err, f.Close())
}

// Shipped tells the Reader that the backup location has all commits up to the given number. The logs of these commits
// can then be removed.
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
