package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"edgetable/functions/edgetable/load"
)

// The tables of the server with a large amount of data.
const (
	smallTable = "small"
	bigTable   = "big"
)

// big measures the costs that depend on the amount of data: the time for a page, and the time to start after a
// clean stop and after a crash. It uses a separate server and data folder.
func (s *suite) big(ctx context.Context) error {
	if s.Edgetable == "" {
		return nil
	}
	if err := s.stopAll(); err != nil {
		return err
	}
	big := load.Layout{Entities: s.BigRows, RowsPerPartition: 100}
	data := filepath.Join(s.dir, "big")
	c, err := s.startBig(ctx, data)
	if err != nil {
		return err
	}
	s.children = append(s.children, c) // the suite stops the server even if this function fails
	for table, layout := range map[string]load.Layout{smallTable: pointLayout, bigTable: big} {
		s.progress("filling %s with %d entities", table, layout.Entities)
		if err := load.CreateTable(ctx, c.target, table); err != nil {
			return err
		}
		if err := load.Fill(ctx, c.target, table, layout); err != nil {
			return err
		}
	}
	if err := s.pages(ctx, c, big); err != nil {
		return err
	}
	if err := s.cleanStarts(ctx, data); err != nil {
		return err
	}
	return s.crashStarts(ctx, data)
}

func (s *suite) startBig(ctx context.Context, data string) (*child, error) {
	t, err := freeTarget()
	if err != nil {
		return nil, err
	}
	return spawn(ctx, "edgetable-big", s.dir, t, answers(t), s.edgetable(t, "--data", data)...)
}

// pages measures the reading of pages from a small and a large table in alternation. It uses one
// connection, because it compares latencies and not rates.
func (s *suite) pages(ctx context.Context, c *child, big load.Layout) error {
	var small, large []time.Duration
	for range s.Rounds {
		for table, layout := range map[string]load.Layout{smallTable: pointLayout, bigTable: big} {
			settle(ctx, 5*s.Settle, c)
			res, err := load.Run(ctx, load.Spec{Target: c.target, Table: table, Op: load.Page, Layout: layout, Connections: 1,
				Warmup: s.Warmup, Duration: s.Cell})
			if err != nil {
				return err
			}
			if res.Errors > 0 {
				s.problem("page of %s: %d requests failed; the first error: %v", table, res.Errors, res.First)
				return nil
			}
			if table == smallTable {
				small = append(small, res.Latency.Quantile(0.5))
			} else {
				large = append(large, res.Latency.Quantile(0.5))
			}
		}
	}
	same := func(d time.Duration) time.Duration { return d }
	s.res.Page.Small, s.res.Page.Large = median(small, same), median(large, same)
	s.progress("page of %d rows p50 %v, of %d rows %v", pointLayout.Entities, short(s.res.Page.Small), big.Entities, short(s.res.Page.Large))
	return nil
}

// cleanStarts restarts the server repeatedly and records the median time to the first response.
func (s *suite) cleanStarts(ctx context.Context, data string) error {
	var times []time.Duration
	for range s.Starts {
		if err := s.stopAll(); err != nil {
			return err
		}
		c, err := s.startBig(ctx, data)
		if err != nil {
			return err
		}
		s.children = append(s.children, c)
		times = append(times, c.ready)
	}
	s.res.Start.Clean = median(times, func(d time.Duration) time.Duration { return d })
	s.progress("start after a clean stop: %v", times)
	return nil
}

// crashStarts fills the log with new entities, kills the server and records the worst time to the next first
// response. The server from the last clean start must still be running.
func (s *suite) crashStarts(ctx context.Context, data string) error {
	for i := range s.Starts {
		c := s.children[0]
		res, err := load.Run(ctx, load.Spec{Target: c.target, Table: smallTable, Op: load.Batch, Connections: Connections[0],
			Prefix: fmt.Sprintf("%scrash%d", s.prefix, i), Duration: 2 * time.Second})
		if err != nil {
			return err
		}
		if res.Errors > 0 {
			s.problem("writing before the crash: %v", res.First)
		}
		c.kill()
		s.children = nil
		if c, err = s.startBig(ctx, data); err != nil {
			return err
		}
		s.children = append(s.children, c)
		s.res.Start.Crash = max(s.res.Start.Crash, c.ready)
	}
	s.progress("start after SIGKILL, worst of %d: %v", s.Starts, short(s.res.Start.Crash))
	return nil
}
