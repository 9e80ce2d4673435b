package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
)

// workload simulates a program that sends requests to a table.
type workload struct {
	*testing.T
	c     *remote.Client
	table string
	r     *rand.Rand
}

func (w *workload) put(pk, rk string, p edm.Properties) {
	w.Helper()
	err := w.c.Write(w.Context(), w.table, &remote.Operation{Kind: remote.Replace, PartitionKey: pk, RowKey: rk, Body: payload.AppendJSON(nil, pk, rk, 0, p)})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *workload) batch(pk string, rows, from int, format string) {
	w.Helper()
	var ops []remote.Operation
	for i := range rows {
		rk := fmt.Sprintf(format, from+i)
		p := edm.AppendProperty(nil, "Age", edm.Int32(int32((from+i)%100)))
		p = edm.AppendProperty(p, "Mail", edm.String(fmt.Sprintf("%s-%d@example.com", pk, from+i)))
		ops = append(ops, remote.Operation{Kind: remote.Replace, PartitionKey: pk, RowKey: rk, Body: payload.AppendJSON(nil, pk, rk, 0, p)})
	}
	if err := w.c.Batch(w.Context(), w.table, ops); err != nil {
		w.Fatal(err)
	}
}

func (w *workload) query(filter string) {
	w.Helper()
	for _, err := range w.c.Entities(w.Context(), remote.Query{Table: w.table, Filter: filter}) {
		if err != nil {
			w.Fatal(err)
		}
	}
}

func (w *workload) people() {
	for _, i := range w.r.Perm(20) {
		w.batch(fmt.Sprintf("city-%02d", i), 50, 0, "%04d")
	}
}

var workloads = []struct {
	name string
	scan bool
	play func(w *workload)
	want []string
}{
	{"Good", true, func(w *workload) {
		w.people()
		for range 4 {
			for _, i := range w.r.Perm(100) {
				w.put(fmt.Sprintf("customer-%03d", i), fmt.Sprintf("%06d", w.r.IntN(1e6)), nil)
			}
		}
		for i := range 40 {
			w.query(fmt.Sprintf("PartitionKey eq 'city-%02d'", i%20))
			w.query(fmt.Sprintf("PartitionKey eq 'city-%02d' and RowKey ge '0010' and RowKey lt '0020'", i%20))
		}
	}, nil},
	{"Hot", false, func(w *workload) {
		for i := range 400 {
			pk := fmt.Sprintf("device-%03d", w.r.IntN(300))
			if i%5 < 2 {
				pk = "gateway"
			}
			w.put(pk, fmt.Sprint(w.r.Uint32()), nil)
		}
	}, []string{"hot-partition"}},
	{"Log", false, func(w *workload) {
		for i := range 300 {
			w.put(fmt.Sprintf("2026-11-22T10:%05d", i), "x", nil)
		}
	}, []string{"append-only"}},
	{"Reversed", false, func(w *workload) {
		for i := range 300 {
			w.put(fmt.Sprintf("%010d", 1e9-i), "x", nil)
		}
	}, []string{"append-only"}},
	{"Giant", true, func(w *workload) {
		for i := range 30 {
			w.batch("all", 100, 100*((i*7)%30), "%05d")
		}
		w.people()
	}, []string{"giant-partition", "hot-partition"}},
	{"Single", true, func(w *workload) {
		for range 250 {
			w.put(fmt.Sprintf("%08x", w.r.Uint32()), "", nil)
		}
		for i := range 25 {
			w.query(fmt.Sprintf("PartitionKey ge '%x' and PartitionKey lt '%x'", i%15, i%15+1))
		}
	}, []string{"range-over-single-rows"}},
	{"Filtered", false, func(w *workload) {
		w.people()
		for range 6 {
			w.query("Age gt 47 and PartitionKey ge 'city'")
		}
	}, []string{"scan-ratio"}},
	{"ByMail", false, func(w *workload) {
		w.people()
		for i := range 6 {
			w.query(fmt.Sprintf("Mail eq 'city-%02d-7@example.com'", i))
		}
	}, []string{"point-read-by-property"}},
	{"Looked", false, func(w *workload) { // two queries by Mail are too few for advice; the queries by Age do not count, because a tool sends them
		w.people()
		w.query("Mail eq 'nobody'")
		w.query("Mail eq 'nobody'")
		w.c.Tool = true
		for range 20 {
			w.query("Age gt 47")
		}
		w.c.Tool = false
	}, nil},
	{"NoBatches", false, func(w *workload) {
		for _, i := range w.r.Perm(8) {
			for range 60 {
				w.put(fmt.Sprint("order-", i), fmt.Sprint(w.r.Uint32()), nil)
			}
		}
	}, []string{"batches-not-used"}},
	{"Wide", false, func(w *workload) {
		w.people()
		p := edm.Properties(nil)
		for i := range 10 {
			p = edm.AppendProperty(p, fmt.Sprint("P", i), edm.Binary(bytes.Repeat([]byte{1}, 60_000)))
		}
		w.put("city-01", "wide", p)
	}, []string{"wide-entities"}},
	{"Numbers", true, func(w *workload) {
		for _, i := range w.r.Perm(20) {
			w.batch(fmt.Sprintf("city-%02d", i), 50, 1, "%d")
		}
	}, []string{"text-order"}},
}

// TestAdvise runs simulated programs against a server, which counts their requests. For each bad
// workload, 'advise' must report exactly the finding that names the problem. For the good workload,
// it must report none.
func TestAdvise(t *testing.T) {
	t.Parallel()
	admin := filepath.Join(t.TempDir(), "s")
	s := start(t, nil, "--memory", "--admin", admin)
	at := s.greetingText(t, "connection string")
	e, err := remote.ParseConnection(at)
	if err != nil {
		t.Fatal(err)
	}
	c := remote.New(e, 4)
	defer c.Close()
	for i, tt := range workloads {
		if _, err := c.CreateTable(t.Context(), tt.name); err != nil {
			t.Fatal(err)
		}
		tt.play(&workload{t, c, tt.name, rand.New(rand.NewPCG(uint64(i), 1))})
		args := []string{"advise", tt.name, "--admin", admin}
		if tt.scan {
			args = append(args, "--scan", "--from", at)
		}
		status, out, said := runUntil(t.Context(), nil, append(args, "--json")...)
		var a advise.Advice
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Fatalf("%s: %v: %s%s", tt.name, err, out, said)
		}
		var rules []string
		for _, f := range a.Findings {
			rules = append(rules, f.Rule)
			if f.Number <= 0 || f.Unit == "" || f.Example == "" || f.Instead == "" || f.Why.Azure == "" || f.Why.DynamoDB == "" || f.Why.Workers == "" || f.Why.Binary == "" || f.Why.Postgres == "" {
				t.Errorf("%s: a part is missing: %+v", tt.name, f)
			}
		}
		slices.Sort(rules)
		if want := map[bool]int{true: 0, false: cli.StatusDamage}[tt.want == nil]; !slices.Equal(slices.Compact(rules), tt.want) || status != want {
			t.Errorf("%s: %q with status %d, want %q\n%s", tt.name, rules, status, tt.want, out)
		}
		for _, cost := range a.Costs {
			if cost.Dollars <= 0 {
				t.Errorf("%s: %+v", tt.name, cost)
			}
		}
	}
	_, out, said := runUntil(t.Context(), nil, "advise", "Hot", "--admin", admin)
	if !strings.Contains(out, "1. One partition gets 40 % of the writes. (hot-partition)\n   for example  gateway\n") ||
		!strings.Contains(out, "too short to estimate the cost of a month") || !strings.Contains(said, "Hot: 1 finding") {
		t.Errorf("%s%s", out, said)
	}
	console{t, nil}.says(1, "--scan", "advise", "Absent", "--admin", admin)
}
