package payload

import (
	"strconv"
	"time"

	"edgetable/core/edm"
	"edgetable/core/traffic"
)

// AppendReport appends a traffic report in the form that encoding/json would produce. encoding/json itself is too large
// for the Workers module.
func AppendReport(dst []byte, r *traffic.Report) []byte {
	w := object{b: append(dst, '{')}
	w.text("account", r.Account)
	w.text("table", r.Table)
	w.time("since", r.Since)
	w.time("until", r.Until)
	w.totals(&r.Totals)
	w.begin("heaviest", '{')
	for _, name := range traffic.Metrics {
		h := r.Partitions[name]
		w.heavy(name, &h)
	}
	w.end('}')
	w.begin("shapes", '[')
	for i := range r.Shapes {
		w.shape(&r.Shapes[i])
	}
	w.end(']')
	w.matrix(&r.Map)
	w.begin("ranges", '[')
	for i := range r.Ranges {
		w.keyRange(&r.Ranges[i])
	}
	w.end(']')
	if r.Hour != nil {
		w.hour(r.Hour)
	}
	if r.Missing > 0 {
		w.number("missing", uint64(r.Missing))
	}
	w.end('}')
	return w.b
}

func (w *object) totals(t *traffic.Totals) {
	w.begin("totals", '{')
	t.EachSum(w.number)
	w.number("largest", t.Largest)
	w.text("largestIn", t.LargestIn)
	w.text("lastInserted", t.LastInserted)
	w.number("secondMost", t.SecondMost)
	w.text("secondMostIn", t.SecondMostIn)
	w.end('}')
}

func (w *object) heavy(metric string, h *traffic.Heavy) {
	w.begin(metric, '{')
	w.number("total", h.Total)
	w.begin("partitions", '[')
	for i := range h.Entries {
		e := &h.Entries[i]
		w.begin("", '{')
		w.text("partition", e.Partition)
		w.number("count", e.Count)
		w.number("error", e.Error)
		w.end('}')
	}
	w.end(']')
	w.end('}')
}

// shape writes the counts of queries whose filters differ only in their values.
func (w *object) shape(s *traffic.Shape) {
	w.begin("", '{')
	w.text("plan", s.Plan)
	w.text("filter", s.Filter)
	w.text("example", s.Example)
	w.number("queries", s.Queries)
	w.number("pages", s.Pages)
	w.number("scanned", s.Scanned)
	w.number("scannedBytes", s.ScannedBytes)
	w.number("returned", s.Returned)
	w.end('}')
}

// matrix writes the map, which is a matrix of request counts by key range and time.
func (w *object) matrix(m *traffic.Map) {
	w.begin("map", '{')
	w.begin("metrics", '[')
	for _, name := range traffic.Metrics {
		w.text("", name)
	}
	w.end(']')
	w.begin("starts", '[')
	for _, s := range m.Starts {
		w.begin("", '{')
		w.text("PartitionKey", s.PartitionKey)
		w.text("RowKey", s.RowKey)
		w.end('}')
	}
	w.end(']')
	w.columns("minutes", m.Minutes)
	w.columns("quarters", m.Quarters)
	w.end('}')
}

func (w *object) columns(name string, list []traffic.MapColumn) {
	w.begin(name, '[')
	for i := range list {
		w.begin("", '{')
		w.time("at", list[i].At)
		w.begin("counts", '[')
		for _, counts := range list[i].Counts {
			w.begin("", '[')
			for _, n := range counts {
				w.number("", uint64(n))
			}
			w.end(']')
		}
		w.end(']')
		w.end('}')
	}
	w.end(']')
}

// keyRange writes a key range, which one Durable Object serves.
func (w *object) keyRange(g *traffic.Range) {
	w.begin("", '{')
	w.number("bucket", uint64(g.Bucket))
	w.text("from", g.From)
	w.text("to", g.To)
	w.number("bytes", g.Bytes)
	w.name("load")
	w.b = strconv.AppendFloat(w.b, g.Load, 'f', -1, 64)
	if !g.Since.IsZero() {
		w.time("since", g.Since)
	}
	w.end('}')
}

func (w *object) hour(h *traffic.Hour) {
	w.begin("hour", '{')
	w.text("table", h.Table)
	w.time("since", h.Since)
	w.time("until", h.Until)
	w.begin("minutes", '[')
	for _, n := range h.Minutes {
		w.number("", n)
	}
	w.end(']')
	w.end('}')
}

// object writes the members of a JSON object, or the elements of a JSON list. Elements have an empty name.
type object struct{ b []byte }

//go:noinline
func (w *object) name(name string) {
	if last := w.b[len(w.b)-1]; last != '{' && last != '[' {
		w.b = append(w.b, ',')
	}
	if name != "" {
		w.b = append(append(append(w.b, '"'), name...), `":`...)
	}
}

func (w *object) begin(name string, bracket byte) {
	w.name(name)
	w.b = append(w.b, bracket)
}

func (w *object) end(bracket byte) { w.b = append(w.b, bracket) }

//go:noinline
func (w *object) text(name, s string) {
	w.name(name)
	w.b = append(appendEscaped(append(w.b, '"'), s), '"')
}

//go:noinline
func (w *object) number(name string, n uint64) {
	w.name(name)
	w.b = strconv.AppendUint(w.b, n, 10)
}

func (w *object) time(name string, t time.Time) {
	w.name(name)
	w.b = append(edm.TicksOf(t).AppendText7(append(w.b, '"')), '"')
}
