package trafficreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"edgetable/core/traffic"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer/rows"
)

func printOverviews(p *cli.Terminal, list []traffic.Overview) {
	if len(list) == 0 {
		fmt.Fprintln(p.Out, "no request to a table was counted yet")
		return
	}
	slices.SortFunc(list, func(a, b traffic.Overview) int { return cmp.Compare(weight(&b.Totals), weight(&a.Totals)) })
	t := cli.Table{Heads: []string{"account", "table", ">reads", ">writes", ">query pages", ">rows scanned", ">throttled"}}
	for _, o := range list {
		n := &o.Totals
		t.Rows = append(t.Rows, []string{o.Account, o.Table, count(n.Reads), count(n.Writes), count(n.Queries), count(n.Scanned), count(n.Throttled)})
	}
	p.PrintTable(&t)
}

func weight(t *traffic.Totals) uint64 { return t.Reads + t.Writes + t.Scanned + t.Queries }

func count(n uint64) string { return cli.Commas(int64(n)) }

func printReport(p *cli.Terminal, r *traffic.Report) {
	t := &r.Totals
	fmt.Fprintf(p.Out, "%s / %s, in %s until %s\n", r.Account, r.Table, cli.ShowDuration(r.Until.Sub(r.Since).Round(time.Second)), r.Until.Format(time.DateTime+" MST"))
	fmt.Fprintf(p.Out, "  read by key    %s\n", cli.Things(t.Reads, "entities"))
	fmt.Fprintf(p.Out, "  written        %s, %s of them in %s\n", cli.Things(t.Writes, "entities"), count(t.BatchEntities), cli.Things(t.Batches, "batches"))
	fmt.Fprintf(p.Out, "  query pages    %s: %s scanned, %s returned\n", count(t.Queries), cli.Things(t.Scanned, "rows"), count(t.Returned))
	fmt.Fprintf(p.Out, "  throttled      %s\n", cli.Things(t.Throttled, "requests"))
	if t.Judged > 0 {
		fmt.Fprintf(p.Out, "  inserts        %d %% at the end of the table, %d %% at its start\n", 100*t.AtEnd/t.Judged, 100*t.AtStart/t.Judged)
	}
	if t.Missed > 0 {
		fmt.Fprintf(p.Out, "  not counted    %s, which arrived while another request was being counted\n", cli.Things(t.Missed, "requests"))
	}
	printRanges(p, r.Ranges, r.Until)
	if r.Missing > 0 {
		fmt.Fprintf(p.Out, "\n%d objects of the table did not respond, so their counts are missing: run the command again. A free Cloudflare account can ask at most 49.\n", r.Missing)
	}
	for _, metric := range traffic.Metrics {
		printHeavy(p, metric, r.Partitions[metric], r.Sum(metric))
	}
	printShapes(p, r.Shapes)
}

func printShapes(p *cli.Terminal, list []traffic.Shape) {
	if len(list) == 0 {
		return
	}
	t := cli.Table{Heads: []string{"filter", "reads", ">queries", ">pages", ">scanned", ">returned"}}
	for _, s := range list {
		filter, plan := cmp.Or(s.Example, s.Filter, "(no filter)"), s.Plan
		if s.Others() {
			filter, plan = "(all other filters)", ""
		}
		t.Rows = append(t.Rows, []string{rows.Printable(filter), strings.ToLower(plan), count(s.Queries), count(s.Pages), count(s.Scanned), count(s.Returned)})
	}
	fmt.Fprintln(p.Out)
	p.PrintTable(&t)
}

// top is the maximum number of partitions to print.
const top = 10

// printHeavy prints the partitions with the highest counts of a metric, and their shares of the total.
func printHeavy(p *cli.Terminal, metric string, h traffic.Heavy, sum uint64) {
	if len(h.Entries) == 0 {
		return
	}
	words := map[string]string{"scanned": "rows scanned", "throttled": "throttled requests"}
	t := cli.Table{Heads: []string{"partition", ">" + cmp.Or(words[metric], metric), ">share", "maximum error"}}
	row := func(name string, n uint64, note string) {
		t.Rows = append(t.Rows, []string{name, count(n), fmt.Sprintf("%.1f %%", 100*float64(n)/float64(sum)), note})
	}
	rest, noted := h.Total, false
	for _, e := range h.Entries[:min(len(h.Entries), top)] {
		note := ""
		if e.Error > 0 {
			note, noted = count(e.Error), true
		}
		row(rows.Printable(e.Partition), e.Count, note)
		rest -= min(rest, e.Count)
	}
	if rest > 0 {
		row("(all others)", rest, "")
	}
	if several := sum - h.Total; several > 0 {
		row("(of several partitions)", several, "")
	}
	if !noted {
		t.Heads = t.Heads[:3]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:3]
		}
	}
	fmt.Fprintln(p.Out)
	p.PrintTable(&t)
}

// printRanges prints a list of the objects of a table on Workers. Each object stores a range of the table.
func printRanges(p *cli.Terminal, list []traffic.Range, now time.Time) {
	if len(list) == 0 {
		return
	}
	t := cli.Table{Heads: []string{"ranges of keys", ">size", ">operations/s", ">age"}}
	for i := range list {
		r := &list[i]
		text := "from " + cmp.Or(rows.Printable(r.From), "(first key)")
		if r.To != "" {
			text += " to before " + rows.Printable(r.To)
		} else {
			text += " on"
		}
		if list[len(list)-1].Bucket > 0 {
			text = fmt.Sprintf("bucket %d, %s", r.Bucket, text)
		}
		age := ""
		if !r.Since.IsZero() {
			age = cli.ShowDuration(max(now.Sub(r.Since), 0).Truncate(time.Minute))
		}
		t.Rows = append(t.Rows, []string{text, cli.ShowBytes(int64(r.Bytes)), fmt.Sprintf("%.1f", r.Load), age})
	}
	fmt.Fprintln(p.Out)
	p.PrintTable(&t)
}
