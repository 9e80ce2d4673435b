package suite

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"edgetable/functions/edgetable/load"
)

// Report is the output of the suite.
type Report struct {
	*Results
	Command string  `json:"command"` // command that reproduces the report
	Scale   string  `json:"scale"`   // name of the scale: short or full
	Machine string  `json:"machine"`
	Checks  []Check `json:"checks"`
}

// NewReport checks the results against the targets.
func NewReport(r *Results, command, scale string) *Report {
	return &Report{Results: r, Command: command, Scale: scale, Machine: machine(), Checks: Checks(r)}
}

// Missed returns how many targets the results did not meet, and how many were not measured.
func (r *Report) Missed() (missed, unmeasured int) {
	for _, c := range r.Checks {
		switch c.Status {
		case Miss:
			missed++
		case Unmeasured:
			unmeasured++
		}
	}
	return missed, unmeasured
}

// Failed returns how many of the missed targets make the run fail.
func (r *Report) Failed() (failed int) {
	for _, c := range r.Checks {
		if c.Must && c.Status == Miss {
			failed++
		}
	}
	return failed
}

// machine describes the hardware that the numbers depend on.
func machine() string {
	model := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores of %s, %s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.Version())
}

// JSON writes the whole report, including the repetitions (rounds) of each measurement.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Markdown writes the page for the documentation.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Performance\n\nWritten by\n\n    %s\n\n", r.Command)
	fmt.Fprintf(&b, "on %s; client and servers share the machine. Entities of %d bytes of JSON, signed requests, kept-alive connections. "+
		"A value is the median of its interleaved rounds, of those rounds during which other programs left at least nine tenths of the processors alone, if there were any. ", r.Machine, load.EntitySize)
	fmt.Fprintf(&b, "A write and fsync of 4 KiB on the data disk took %s (p50) and %s (p99) meanwhile. ", short(r.FsyncP50), short(r.FsyncP99))
	mid, worst := r.Foreign()
	fmt.Fprintf(&b, "Other programs took %.0f %% of the processors during the median cell, %.0f %% during the worst.\n\n", 100*mid, 100*worst)
	if r.Scale != "full" {
		b.WriteString("This was a short run: good for a look, too short for a verdict.\n\n")
	}
	b.WriteString("The *ceilings* do the least that a signed request can cost on the same HTTP library: *null* verifies one HMAC, " +
		"*write* adds one synced 1 KiB Pebble write, *read* one 1 KiB Pebble point get; *page* sends 1,000 entities from memory.\n\n## Targets\n\n")
	b.WriteString("| what | measured | against | ratio | target | |\n|---|---:|---:|---:|---:|---|\n")
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", c.What, dash(c.Measured), dash(c.Against), ratioText(c.Ratio), c.Target, c.Status)
	}
	b.WriteString("\n## Measurements\n\n| workload | connections | server | ops/s | entities/s | p50 | p99 | max | CPU | refused/s | rounds, ops/s |\n|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---|\n")
	for _, m := range r.sorted() {
		var rounds []string
		for _, s := range m.Rounds {
			rounds = append(rounds, fmt.Sprintf("%.0f", s.OpsPerSecond))
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %.0f | %.0f | %s | %s | %s | %s | %.0f | %s |\n", m.Op, m.Connections, m.title(), m.Median.OpsPerSecond,
			m.Median.EntitiesPerSecond, short(m.Median.P50), short(m.Median.P99), short(m.Median.Max), short(m.Median.CPU), m.Median.Refused, strings.Join(rounds, ", "))
	}
	if len(r.Problems) > 0 {
		b.WriteString("\n## Problems\n\n")
		for _, p := range r.Problems {
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(p, "\n", " "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Text prints the report for a terminal, with one line for each target (a required value).
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%-12s %-76s %18s %18s %7s %8s\n", c.Status, c.What, dash(c.Measured), dash(c.Against), ratioText(c.Ratio), c.Target)
	}
	fmt.Fprintf(&b, "fsync of 4 KiB: p50 %s, p99 %s\n", short(r.FsyncP50), short(r.FsyncP99))
	mid, worst := r.Foreign()
	fmt.Fprintf(&b, "processors taken by other programs: %.0f %% in the median cell, %.0f %% in the worst\n", 100*mid, 100*worst)
	missed, unmeasured := r.Missed()
	fmt.Fprintf(&b, "%d targets: %d missed, %d not measured; %d problems\n", len(r.Checks), missed, unmeasured, len(r.Problems))
	_, err := io.WriteString(w, b.String())
	return err
}

// sorted returns the cells (measurements) sorted by workload, then by connections, then by server, in the
// order in which the servers first appear.
func (r *Results) sorted() []*Measured {
	list := slices.Clone(r.Cells)
	slices.SortStableFunc(list, func(a, b *Measured) int {
		if d := slices.Index(load.Ops, a.Op) - slices.Index(load.Ops, b.Op); d != 0 {
			return d
		}
		if d := strings.Compare(a.How, b.How); d != 0 && (a.How == "" || b.How == "") {
			return d
		}
		return a.Connections - b.Connections
	})
	return list
}

// title returns the name of the measured server, with a text that distinguishes this measurement from
// others of the server.
func (m *Measured) title() string {
	if m.How == "" {
		return m.Server
	}
	return m.Server + ", " + m.How
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func ratioText(r float64) string {
	if r == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2fx", r)
}
