package suite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
)

// The preloaded tables: pointTable for get, upsert and merge, rangeTable for query and scan.
const (
	pointTable = "points"
	rangeTable = "ranges"
)

var (
	pointLayout = load.Layout{Entities: 10_000, RowsPerPartition: 100}
	rangeLayout = load.Layout{Entities: 20_000, RowsPerPartition: 1000}
)

// Limits of the number of entities in the table for a measurement of deletes. If all entities are deleted, the
// measurement ends early.
const (
	minDeletes = 5_000
	maxDeletes = 200_000
)

// prepare fills the preloaded tables of every table server.
func (s *suite) prepare(ctx context.Context) error {
	for _, c := range s.servers(Azurite, Edgetable, Memory) {
		for table, layout := range map[string]load.Layout{pointTable: pointLayout, rangeTable: rangeLayout} {
			s.progress("%s: filling %s with %d entities", c.name, table, layout.Entities)
			if err := load.CreateTable(ctx, c.target, table); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if err := load.Fill(ctx, c.target, table, layout); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// matrix measures the workloads on all servers, and repeats this several times.
func (s *suite) matrix(ctx context.Context) error {
	for round := range s.Rounds {
		s.progress("round %d of %d", round+1, s.Rounds)
		if err := s.round(ctx, round); err != nil {
			return err
		}
		s.probe()
	}
	if s.wants(load.Upsert) {
		if err := s.promises(ctx); err != nil {
			return err
		}
	}
	if !s.wants(load.Batch) {
		return nil
	}
	for _, c := range s.servers(Azurite, Edgetable) {
		if err := s.batch(ctx, c); err != nil {
			return err
		}
	}
	s.probe()
	return nil
}

// round measures every combination of workload and connections once on each server. Odd rounds visit the servers in
// the opposite order.
func (s *suite) round(ctx context.Context, round int) error {
	type row struct {
		op          load.Op
		connections []int
		servers     []string
	}
	rows := []row{
		{load.Insert, Connections, []string{Azurite, Edgetable, Memory, CeilingWrite, CeilingNull}},
		{load.Upsert, Connections, []string{Azurite, Edgetable, Memory}},
		{load.Merge, Connections, []string{Azurite, Edgetable, Memory}},
		{load.Delete, Connections, []string{Azurite, Edgetable, Memory}},
		{load.Get, Connections, []string{Azurite, Edgetable, CeilingRead}},
		{load.Query, Connections[:1], []string{Azurite, Edgetable, CeilingPage}},
		{load.Scan, Connections[:1], []string{Azurite, Edgetable}},
	}
	for _, r := range rows {
		if !s.wants(r.op) {
			continue
		}
		names := slices.Clone(r.servers)
		if round%2 == 1 {
			slices.Reverse(names)
		}
		for _, n := range r.connections {
			for _, c := range s.servers(names...) {
				if err := s.cell(ctx, c, r.op, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// onFilled returns the workload of one operation. The workload uses the table that the method prepare filled for
// this operation.
func onFilled(t wire.Target, op load.Op, connections int) load.Spec {
	spec := load.Spec{Target: t, Table: pointTable, Op: op, Layout: pointLayout, Connections: connections}
	if op == load.Query || op == load.Scan {
		spec.Table, spec.Layout = rangeTable, rangeLayout
	}
	return spec
}

// cell measures one workload on one server. If the measurement fails, cell records a problem and the suite
// continues, unless ctx has ended.
func (s *suite) cell(ctx context.Context, c *child, op load.Op, connections int) error {
	settle(ctx, s.Settle, s.children...)
	spec := onFilled(c.target, op, connections)
	spec.Warmup, spec.Duration = s.Warmup, s.Cell
	own := op == load.Delete || (op == load.Insert && !c.ceiling())
	if own {
		spec.Table = s.newTable()
	}
	return s.attempt(ctx, c, spec, "", own)
}

// newTable returns the name of a table that no other measurement uses.
func (s *suite) newTable() string {
	s.tables++
	return fmt.Sprintf("own%d", s.tables)
}

// attempt makes one measurement. If the measurement fails, attempt records a problem of the run.
func (s *suite) attempt(ctx context.Context, c *child, spec load.Spec, how string, ownTable bool) error {
	err := s.measure(ctx, c, spec, how, ownTable)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.problem("%s, %s, %d connections %s: %v", c.name, spec.Op, spec.Connections, how, err)
	}
	return nil
}

// newPrefix returns a prefix of row keys that no other run uses.
func (s *suite) newPrefix() string {
	s.runs++
	return fmt.Sprintf("%s%d", s.prefix, s.runs)
}

// measure runs the workload of the parameter spec and adds the result. If ownTable is true, it first creates the
// table, and deletes the table at the end.
func (s *suite) measure(ctx context.Context, c *child, spec load.Spec, how string, ownTable bool) error {
	spec.Prefix = s.newPrefix()
	if ownTable {
		if err := load.CreateTable(ctx, c.target, spec.Table); err != nil {
			return err
		}
		defer func() {
			if err := load.DeleteTable(ctx, c.target, spec.Table); err != nil && ctx.Err() == nil {
				s.problem("%s: %v", c.name, err)
			}
		}()
	}
	if spec.Op == load.Delete {
		spec.Layout.Entities = s.deletes(c, spec.Warmup+spec.Duration)
		if err := load.Fill(ctx, c.target, spec.Table, spec.Layout); err != nil {
			return err
		}
		settle(ctx, s.Settle, s.children...)
	}
	before, used, start := usageNow(s.children), c.cpu(), time.Now()
	res, err := load.Run(ctx, spec)
	if err != nil {
		return err
	}
	used = c.cpu() - used
	foreign := before.foreign(usageNow(s.children), time.Since(start).Seconds())
	sample := Sample{OpsPerSecond: res.OpsPerSecond(), EntitiesPerSecond: res.EntitiesPerSecond(), P50: res.Latency.Quantile(0.5),
		P99: res.Latency.Quantile(0.99), Max: res.Latency.Max(), Errors: res.Errors, Foreign: foreign,
		Refused: float64(res.Refusals) / res.Elapsed.Seconds(), CPU: used / time.Duration(max(res.Answered, 1))}
	s.res.Add(Cell{c.name, spec.Op, spec.Connections, how}, sample)
	if spec.Op == load.Insert {
		s.lastRate[c.name] = sample.OpsPerSecond
	}
	s.progress("  %-18s %-6s %3d  %9.0f ops/s %10.0f entities/s  p50 %-8v p99 %-8v cpu %-7v others %.0f%% %s", c.name, spec.Op, spec.Connections,
		sample.OpsPerSecond, sample.EntitiesPerSecond, short(sample.P50), short(sample.P99), short(sample.CPU), 100*foreign, how)
	if res.Errors > 0 {
		return fmt.Errorf("%d requests failed; the first error: %w", res.Errors, res.First)
	}
	return nil
}

// deletes estimates how many entities a measurement of deletes needs. It assumes that deletes are at most twice as
// fast as the inserts measured on the same server.
func (s *suite) deletes(c *child, d time.Duration) int {
	n := int(2 * s.lastRate[c.name] * d.Seconds())
	if n == 0 {
		n = maxDeletes / 4
	}
	return min(max(n, minDeletes), maxDeletes)
}

// batch measures batches for a long time without a pause, so that the measurement includes the compactions that the
// batches cause.
func (s *suite) batch(ctx context.Context, c *child) error {
	settle(ctx, s.Settle, s.children...)
	return s.attempt(ctx, c, load.Spec{Target: c.target, Table: s.newTable(), Op: load.Batch, Connections: Connections[0],
		Warmup: s.Warmup, Duration: s.Batch}, "", true)
}
