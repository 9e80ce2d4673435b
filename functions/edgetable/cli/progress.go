package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// Quiet is the longest time that a running command prints nothing.
const Quiet = 5 * time.Second

// Progress shows the progress of a command. On a terminal, it updates a line every second. Otherwise it prints a line
// every five seconds.
type Progress struct {
	out      io.Writer
	terminal bool
	last     time.Time
	open     bool // true while the terminal shows the progress line
}

func NewProgress(out io.Writer) *Progress {
	return &Progress{out: out, last: time.Now(), terminal: isTerminal(out)}
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Show shows the progress, unless the last update is too recent.
func (p *Progress) Show(format string, args ...any) {
	every := Quiet
	if p.terminal {
		every = time.Second
	}
	if time.Since(p.last) < every {
		return
	}
	p.last = time.Now()
	text := fmt.Sprintf(format, args...)
	if !p.terminal {
		fmt.Fprintln(p.out, text)
		return
	}
	fmt.Fprint(p.out, "\r\x1b[K", text)
	p.open = true
}

// ShowPart is like Show, but adds a progress bar on a terminal. The bar shows the finished part of the work, which is a
// number from 0 to 1, or 0 if it is unknown.
func (p *Progress) ShowPart(part float64, text string) {
	if p.terminal && part > 0 {
		const width = 20
		filled := int(part * width)
		text = "[" + strings.Repeat("#", filled) + strings.Repeat(".", width-filled) + "] " + text
	}
	p.Show("%s", text)
}

// Bytes returns a function that shows the number of processed bytes and the rate.
func (p *Progress) Bytes(verb string) func(done, total int64) {
	began := time.Now()
	return func(done, total int64) {
		part := float64(done) / float64(max(total, 1))
		rate := int64(float64(done) / max(time.Since(began).Seconds(), 1e-3))
		p.ShowPart(part, fmt.Sprintf("%s %s of %s, %.0f%%, %s/s", verb, ShowBytes(done), ShowBytes(total), 100*part, ShowBytes(rate)))
	}
}

// Say prints a line immediately.
func (p *Progress) Say(format string, args ...any) {
	p.End()
	fmt.Fprintf(p.out, format+"\n", args...)
}

// End clears the progress line.
func (p *Progress) End() {
	if p.open {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.open = false
	}
}
