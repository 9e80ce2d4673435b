// Package suite compares edgetable with Azurite and with the ceilings (servers that do as little as possible), and
// checks the performance targets.
//
// Every server is a child process on a loopback port. A cell is one measurement: a workload with a number of
// connections on one server. Each round measures every workload on one server after another; the next round visits the
// servers in the opposite order. So noise and drift of the machine affect all servers alike. The value of a cell is the
// median of its rounds.
package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
	"edgetable/testdata/bench/ceiling"
)

// Scale determines how long a suite measures.
type Scale struct {
	Limit    time.Duration // maximum duration of the run; measurements that would come later are reported as not measured
	Rounds   int
	Cell     time.Duration // duration of each measurement
	Warmup   time.Duration
	Settle   time.Duration // maximum wait between two measurements for the servers to become idle
	Batch    time.Duration // duration of the measurement of batches
	BigRows  int           // number of entities in the large table
	Starts   int           // number of clean starts, and of starts after a crash
	FsyncOps int
	CostCell time.Duration // duration of one measurement in the part Costs of the suite
	BusyCell time.Duration // duration of one measurement in the part Busy of the suite
}

// Short takes less than six minutes, Full less than thirty.
var (
	Short = Scale{Limit: 355 * time.Second, Rounds: 2, Cell: time.Second, Warmup: 300 * time.Millisecond, Settle: 500 * time.Millisecond,
		Batch: 8 * time.Second, BigRows: 100_000, Starts: 3, FsyncOps: 50, CostCell: 120 * time.Millisecond, BusyCell: 400 * time.Millisecond}
	Full = Scale{Limit: 30 * time.Minute, Rounds: 3, Cell: 4 * time.Second, Warmup: time.Second, Settle: 2 * time.Second,
		Batch: 60 * time.Second, BigRows: 1_000_000, Starts: 5, FsyncOps: 100, CostCell: 400 * time.Millisecond, BusyCell: 2 * time.Second}
)

// Config says what to measure. Paths must be absolute, because child processes run in their own folder. If Edgetable
// or Azurite is empty, its measurements are left out, and their targets do not count as met.
type Config struct {
	Scale
	Edgetable     string    // path of the edgetable binary
	EdgetableArgs []string  // additional flags of "edgetable serve"
	Azurite       string    // path of azurite-table's main.js, or of a folder in which npm installed it
	Self          string    // path of this program, which also runs the ceiling servers (servers that do as little as possible)
	Parts         []Part    // parts to run; empty means all
	Ops           []load.Op // workloads of the matrix; empty means all
	Work          string    // folder on the disk to measure; the suite makes a temporary folder in it
	CacheBytes    int64     // size of edgetable's block cache
	Progress      io.Writer
}

// Part is a part of the suite, which can be run alone.
type Part string

// The parts, in the order in which they are measured.
const (
	Matrix  Part = "matrix"   // every workload on every server, and long runs of batches
	Costs   Part = "costs"    // cost of Atom and of shared access signatures
	Options Part = "options"  // cost of table options such as an expiry rule
	Busy    Part = "overload" // more requests than a server can answer
	Fair    Part = "fair"     // one account while another account attacks the server
	Big     Part = "big"      // time for a page of a large table, and to start with a large store
)

// Parts lists all parts.
var Parts = []Part{Matrix, Costs, Options, Busy, Fair, Big}

// suite is the state of one run.
type suite struct {
	Config
	res      *Results
	dir      string
	prefix   string
	tables   int
	runs     int
	children []*child
	peakRSS  atomic.Int64
	lastRate map[string]float64 // rate of the last measurement of inserts on each server, in entities per second
}

// Run runs the suite. If it returns an error, because the time limit or a signal ended it or a server could not be
// started, the results so far are still valid.
func Run(ctx context.Context, cfg Config) (*Results, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.Limit)
	defer cancel()
	s := &suite{Config: cfg, prefix: strconv.FormatInt(time.Now().Unix(), 36), lastRate: map[string]float64{}}
	s.res = &Results{CacheBytes: cfg.CacheBytes, BatchFor: cfg.Batch, Start: Start{Bytes: int64(cfg.BigRows) * load.EntitySize},
		Page: PageCost{SmallRows: pointLayout.Entities, LargeRows: cfg.BigRows}}
	if err := os.MkdirAll(cfg.Work, 0o755); err != nil {
		return s.res, err
	}
	var err error
	if s.dir, err = os.MkdirTemp(cfg.Work, "run-"); err != nil {
		return s.res, err
	}
	defer os.RemoveAll(s.dir)
	if err := s.writeAccounts(); err != nil {
		return s.res, err
	}
	err = s.run(ctx)
	err = errors.Join(err, s.stopAll())
	s.res.PeakRSS = s.peakRSS.Load()
	if ctxErr := ctx.Err(); errors.Is(ctxErr, context.DeadlineExceeded) {
		err = errors.Join(fmt.Errorf("the time limit of %v ended the run", cfg.Limit), err)
	}
	return s.res, err
}

func (s *suite) run(ctx context.Context) error {
	s.probe()
	if err := s.startAll(ctx); err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	for _, part := range []struct {
		name Part
		run  func(context.Context) error
	}{{Matrix, s.matrix}, {Costs, s.costs}, {Options, s.declared}, {Busy, s.overload}, {Fair, s.fairness}, {Big, s.big}} {
		if len(s.Parts) == 0 || slices.Contains(s.Parts, part.name) {
			if err := part.run(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *suite) wants(op load.Op) bool { return len(s.Ops) == 0 || slices.Contains(s.Ops, op) }

func (s *suite) progress(format string, args ...any) { fmt.Fprintf(s.Progress, format+"\n", args...) }

func (s *suite) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.res.Problems = append(s.res.Problems, text)
	s.progress("PROBLEM: %s", text)
}

// probe measures and records how long a sync of the disk takes now.
func (s *suite) probe() {
	p50, p99, err := fsyncLatency(s.dir, s.FsyncOps)
	if err != nil {
		s.problem("measuring fsync: %v", err)
		return
	}
	s.res.addFsync(p50, p99)
	s.progress("fsync p50 %v, p99 %v", short(p50), short(p99))
}

// startAll starts one server of each kind. Idle servers use no processor time.
func (s *suite) startAll(ctx context.Context) error {
	if s.Azurite != "" {
		if err := s.start(ctx, Azurite, s.azurite); err != nil {
			return err
		}
	}
	if s.Edgetable != "" {
		info, err := os.Stat(s.Edgetable)
		if err != nil {
			return err
		}
		s.res.BinarySize = info.Size()
		for name, store := range map[string][]string{Edgetable: {"--data", filepath.Join(s.dir, "edgetable")}, Memory: {"--memory"}} {
			if err := s.start(ctx, name, func(t wire.Target) ([]string, error) { return s.edgetable(t, store...), nil }); err != nil {
				return err
			}
		}
		go s.watchMemory(ctx, s.servers(Edgetable)[0])
	}
	for name, kind := range map[string]ceiling.Kind{CeilingNull: ceiling.Null, CeilingWrite: ceiling.Write, CeilingRead: ceiling.Read, CeilingPage: ceiling.Page} {
		argv := func(t wire.Target) ([]string, error) {
			return []string{s.Self, "ceiling", "-kind", string(kind), "-listen", t.Addr, "-table", pointTable,
				"-entities", strconv.Itoa(pointLayout.Entities), "-data", filepath.Join(s.dir, "ceiling-"+string(kind))}, nil
		}
		if err := s.start(ctx, name, argv); err != nil {
			return err
		}
	}
	return nil
}

// start starts one server on a free port. A table server has started when it answers a request. A ceiling server (which
// does as little as possible) answers only one kind of request, so it has started when its port is open.
func (s *suite) start(ctx context.Context, name string, argv func(wire.Target) ([]string, error)) error {
	t, err := freeTarget()
	if err != nil {
		return err
	}
	args, err := argv(t)
	if err != nil {
		return err
	}
	ready := answers(t)
	if strings.HasPrefix(name, ceilingPrefix) {
		ready = listens(t)
	}
	c, err := spawn(ctx, name, s.dir, t, ready, args...)
	if err != nil {
		return err
	}
	s.progress("%s answers after %v", name, short(c.ready))
	s.children = append(s.children, c)
	return nil
}

func (s *suite) stopAll() error {
	var errs []error
	for _, c := range s.children {
		errs = append(errs, c.stop())
	}
	s.children = nil
	return errors.Join(errs...)
}

// edgetable returns the command line of an edgetable server.
func (s *suite) edgetable(t wire.Target, store ...string) []string {
	args := append([]string{s.Edgetable, "serve", "--listen", t.Addr, "--cache-size", strconv.FormatInt(s.CacheBytes>>20, 10) + "MiB",
		"--accounts", filepath.Join(s.dir, accountsFile)}, store...)
	return append(args, s.EdgetableArgs...)
}

// azurite returns the command line of Azurite's table service, in memory, with enough heap for a long run.
func (s *suite) azurite(t wire.Target) ([]string, error) {
	main := s.Azurite
	if info, err := os.Stat(main); err != nil {
		return nil, err
	} else if info.IsDir() {
		main = filepath.Join(main, "node_modules", "azurite", "dist", "src", "table", "main.js")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("azurite needs node: %w", err)
	}
	host, port, _ := strings.Cut(t.Addr, ":")
	return []string{node, "--max-old-space-size=8192", main, "--tableHost", host, "--tablePort", port,
		"--inMemoryPersistence", "--silent", "--disableTelemetry"}, nil
}

// servers returns the running children with these names, in this order.
func (s *suite) servers(names ...string) []*child {
	var list []*child
	for _, name := range names {
		for _, c := range s.children {
			if c.name == name {
				list = append(list, c)
			}
		}
	}
	return list
}

// watchMemory samples a server's resident memory until it ends.
func (s *suite) watchMemory(ctx context.Context, c *child) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.done:
			return
		case <-tick.C:
			s.peakRSS.Store(max(s.peakRSS.Load(), c.rss()))
		}
	}
}
