package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/traffic"
	"edgetable/functions/edgetable/transfer"
)

// statsFlags name a server and an account.
type statsFlags struct {
	data, admin, account string
	json                 bool
}

func (o *statsFlags) register(f *pflag.FlagSet) {
	dataFlag(f, &o.data, "of the server")
	adminFlag(f, &o.admin, "")
	accountFlag(f, &o.account, "; default the first that has the table")
}

// jsonFlag is --json of all commands.
func jsonFlag(f *pflag.FlagSet, to *bool) {
	boolFlag(f, to, "json", "JSON in place of text; a command that works for long writes it to standard error, a line for each event")
}

func (p *program) statsCommand() *cobra.Command {
	var o statsFlags
	var from serviceFlags
	c := &cobra.Command{
		Use: "stats [TABLE]", Short: "Show the traffic of a server's tables: hot partitions, shapes of queries",
		Long: `It asks the server on this machine, by the socket in its data directory. The server counts the 16 busiest
tables. With --from it asks a Worker for a table, with the account's key: the objects of the table count. Counts of
partitions and queries are of the last one to two days; docs/advise.md describes them.`,
		Example: "  edgetable stats --data /var/lib/edgetable\n  edgetable stats People --data /var/lib/edgetable --json\n  edgetable stats People --from cloudflare",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return misuse("%q is too much", args[1])
			}
			if from.name != "" {
				if len(args) == 0 {
					return misuse("name a table: a Worker does not list those with traffic")
				}
				return p.remoteStats(c.Context(), &from, args[0], o.json)
			}
			return p.stats(c.Context(), &o, args)
		},
	}
	section(c, "Flags", func(f *pflag.FlagSet) {
		o.register(f)
		from.connections = 1
		from.fromFlag(f)
		jsonFlag(f, &o.json)
	})
	return c
}

// remoteStats shows the traffic of a table on a Worker.
func (p *program) remoteStats(ctx context.Context, o *serviceFlags, table string, asJSON bool) error {
	r, err := p.remoteTraffic(ctx, o, table)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(p.out).Encode(r)
	}
	p.printReport(r)
	return nil
}

func (p *program) remoteTraffic(ctx context.Context, o *serviceFlags, table string) (*traffic.Report, error) {
	c, err := p.connect(o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Statistics(ctx, table)
}

func (p *program) stats(ctx context.Context, o *statsFlags, tables []string) error {
	if len(tables) == 0 {
		list, text, err := askTraffic[[]traffic.Overview](ctx, o, "")
		if err == nil && !o.json {
			p.printOverviews(list)
		} else if err == nil {
			_, err = p.out.Write(text)
		}
		return err
	}
	r, text, err := askTraffic[traffic.Report](ctx, o, tables[0])
	if err == nil && !o.json {
		p.printReport(&r)
	} else if err == nil {
		_, err = p.out.Write(text)
	}
	return err
}

// askTraffic asks a server for its statistics, of a table unless it is "".
func askTraffic[T any](ctx context.Context, o *statsFlags, table string) (v T, text []byte, err error) {
	path := "/traffic"
	if table != "" {
		path += "/" + url.PathEscape(table) + "?account=" + url.QueryEscape(o.account)
	}
	return askAdmin[T](ctx, o, path)
}

// askAdmin reads JSON from the socket of a server.
func askAdmin[T any](ctx context.Context, o *statsFlags, path string) (v T, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server"+path, nil)
	if err != nil {
		return v, nil, err
	}
	resp, err := askServer(o.data, o.admin).Do(req)
	if err != nil {
		return v, nil, fmt.Errorf("no server answers: is one running with --data %s? %w", o.data, err)
	}
	defer resp.Body.Close()
	if text, err = io.ReadAll(resp.Body); err != nil {
		return v, nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return v, nil, errors.New("the server says: " + strings.TrimSpace(string(text)))
	}
	return v, text, json.Unmarshal(text, &v)
}

func (p *program) printOverviews(list []traffic.Overview) {
	if len(list) == 0 {
		fmt.Fprintln(p.out, "no request to a table was counted yet")
		return
	}
	slices.SortFunc(list, func(a, b traffic.Overview) int {
		return int(min(max(int64(weight(&b.Totals))-int64(weight(&a.Totals)), -1), 1))
	})
	row := func(cells ...any) { fmt.Fprintf(p.out, "%-24s  %-24s  %12s  %12s  %12s  %14s  %10s\n", cells...) }
	row("account", "table", "reads", "writes", "query pages", "rows scanned", "throttled")
	for _, o := range list {
		t := &o.Totals
		row(o.Account, o.Table, count(t.Reads), count(t.Writes), count(t.Queries), count(t.Scanned), count(t.Throttled))
	}
}

func weight(t *traffic.Totals) uint64 { return t.Reads + t.Writes + t.Scanned + t.Queries }

func count(n uint64) string { return group(int64(n)) }

func (p *program) printReport(r *traffic.Report) {
	t := &r.Totals
	fmt.Fprintf(p.out, "%s / %s, %s to %s\n", r.Account, r.Table, r.Since.Format(time.DateTime), r.Until.Format(time.DateTime))
	fmt.Fprintf(p.out, "  read by key      %s\n", things(t.Reads, "entities"))
	fmt.Fprintf(p.out, "  written          %s, %s of them in %s\n", things(t.Writes, "entities"), count(t.BatchEntities), things(t.Batches, "batches"))
	fmt.Fprintf(p.out, "  query pages      %s: %s scanned, %s returned\n", count(t.Queries), things(t.Scanned, "rows"), count(t.Returned))
	fmt.Fprintf(p.out, "  throttled        %s requests\n", count(t.Throttled))
	if t.Judged > 0 {
		fmt.Fprintf(p.out, "  inserts          %d %% at the end of the table, %d %% at its start\n", 100*t.AtEnd/t.Judged, 100*t.AtStart/t.Judged)
	}
	if t.Missed > 0 {
		fmt.Fprintf(p.out, "  not counted      %s requests, which came while another one was counted\n", count(t.Missed))
	}
	for _, metric := range traffic.Metrics {
		p.printHeavy(metric, r.Partitions[metric])
	}
	if len(r.Shapes) > 0 {
		fmt.Fprintln(p.out, "  queries")
	}
	for _, s := range r.Shapes {
		filter := s.Example
		if filter == "" {
			filter = "(no filter)"
		}
		fmt.Fprintf(p.out, "    %-9s  %8s pages  %10s scanned  %10s returned  %s\n", s.Plan, count(s.Pages), count(s.Scanned), count(s.Returned), transfer.Printable(filter))
	}
}

// top is the number of partitions that are printed.
const top = 10

func (p *program) printHeavy(metric string, h traffic.Heavy) {
	if len(h.Entries) == 0 {
		return
	}
	words := map[string]string{"scanned": "rows scanned", "throttled": "throttled requests"}
	fmt.Fprintf(p.out, "  partitions by %s\n", cmp.Or(words[metric], metric))
	for _, e := range h.Entries[:min(len(h.Entries), top)] {
		text := fmt.Sprintf("    %-32s  %12s  %5.1f %%", transfer.Printable(e.Partition), count(e.Count), 100*float64(e.Count)/float64(h.Total))
		if e.Error > 0 {
			text += fmt.Sprintf("  (at most %s too much)", count(e.Error))
		}
		fmt.Fprintln(p.out, text)
	}
}
