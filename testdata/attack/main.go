//go:build linux

// Command attack serves tables with small limits, attacks the server as strangers and a
// hostile account would, and measures a second account meanwhile. It fails if the server
// ends, refuses the second account, or holds more memory or files than it may.
//
//	go run ./testdata/attack -edgetable bin/edgetable -duration 5m
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

type options struct {
	edgetable string
	duration  time.Duration
	files     int    // that the server may open
	memory    string // GOMEMLIMIT
	rss       int    // MiB that the server may hold, with its code
	addresses int    // of the attackers
	only      string
	flood     int
	readers   int
	uploads   int
}

func main() {
	o := options{}
	flag.StringVar(&o.edgetable, "edgetable", "bin/edgetable", "the program")
	flag.DurationVar(&o.duration, "duration", time.Minute, "how long to attack")
	flag.IntVar(&o.files, "files", 600, "how many files the server may open (ulimit -n)")
	flag.StringVar(&o.memory, "memory", "256MiB", "GOMEMLIMIT of the server")
	flag.IntVar(&o.rss, "rss", 400, "how many MiB the server may hold in all")
	flag.IntVar(&o.addresses, "addresses", 3, "from how many addresses to attack")
	flag.StringVar(&o.only, "only", "", "one attack: flood, headers, readers, uploads or batches")
	flag.IntVar(&o.flood, "flood", 1000, "idle connections, and as many with half a request")
	flag.IntVar(&o.readers, "readers", 900, "connections that do not read their answers")
	flag.IntVar(&o.uploads, "uploads", 128, "connections that do not send their bodies, of each kind")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

func run(o *options) (err error) {
	s, err := startServer(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	v, err := newVictim(s)
	if err != nil {
		return err
	}
	a, err := newAttackers(o, s)
	if err != nil {
		return err
	}
	alone := v.measure(min(10*time.Second, o.duration/2), s)
	fmt.Printf("alone: %s\n", alone)
	a.begin()
	attacked := v.measure(o.duration, s)
	a.end()
	fmt.Printf("attacked: %s\n%s\n%s\n", attacked, a, s)
	var problems []error
	if attacked.refused+attacked.failed > 0 {
		problems = append(problems, fmt.Errorf("%d requests of the second account were refused and %d failed: %w", attacked.refused, attacked.failed, v.first))
	}
	if s.disabled > 2*time.Second+500*time.Millisecond {
		problems = append(problems, fmt.Errorf("a disabled account was served for %v", s.disabled))
	}
	if s.mostRSS > o.rss {
		problems = append(problems, fmt.Errorf("the server held %d MiB", s.mostRSS))
	}
	if s.mostFiles > o.files {
		problems = append(problems, fmt.Errorf("the server had %d files open", s.mostFiles))
	}
	return errors.Join(problems...)
}
