package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// progress shows how long work gets on: on a terminal one line that changes every
// second, elsewhere a line every ten.
type progress struct {
	out      io.Writer
	terminal bool
	last     time.Time
	open     bool // a line without its end stands on the terminal
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, last: time.Now()}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// show says how far the work is, if it is time to.
func (p *progress) show(format string, args ...any) {
	every := 10 * time.Second
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

// showPart does the same, with a bar on a terminal. The part of the work that is done
// is from 0 to 1; 0 is not known.
func (p *progress) showPart(part float64, text string) {
	if p.terminal && part > 0 {
		const width = 20
		filled := int(part * width)
		text = "[" + strings.Repeat("#", filled) + strings.Repeat(".", width-filled) + "] " + text
	}
	p.show("%s", text)
}

// bytes returns a function that shows how much of some bytes is done.
func (p *progress) bytes(verb string) func(done, total int64) {
	began := time.Now()
	return func(done, total int64) {
		part := float64(done) / float64(max(total, 1))
		rate := int64(float64(done) / max(time.Since(began).Seconds(), 1e-3))
		p.showPart(part, fmt.Sprintf("%s %s of %s, %.0f%%, %s/s", verb, showBytes(done), showBytes(total), 100*part, showBytes(rate)))
	}
}

// say prints a line at once.
func (p *progress) say(format string, args ...any) {
	p.end()
	fmt.Fprintf(p.out, format+"\n", args...)
}

// end leaves the terminal with a line that is whole.
func (p *progress) end() {
	if p.open {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.open = false
	}
}
