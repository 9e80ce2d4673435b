//go:build linux

// Command attack starts an edgetable server with small limits, attacks it as strangers and a hostile account would, and
// measures the requests of a second account meanwhile. It fails if the server ends, refuses the second account, uses
// more memory or files than allowed, or if its usage of memory or files keeps growing.
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
	files     int    // maximum number of files that the server may open
	memory    string // GOMEMLIMIT of the server
	rss       int    // maximum memory of the server in MiB, including its code
	addresses int    // client addresses of each attack
	tls       bool
	only      string

	flood, readers, uploads int
	// pause is the time that the second account, which must still be served, waits after a request on a connection.
	// Attackers wait for a multiple of this time.
	pause time.Duration
	// reopen is the delay before a closed connection is opened again.
	reopen time.Duration
}

func main() {
	o := options{}
	flag.StringVar(&o.edgetable, "edgetable", "bin/edgetable", "the program")
	flag.DurationVar(&o.duration, "duration", time.Minute, "how long to attack")
	flag.IntVar(&o.files, "files", 600, "how many files the server may open (ulimit -n)")
	flag.StringVar(&o.memory, "memory", "256MiB", "GOMEMLIMIT of the server")
	flag.IntVar(&o.rss, "rss", 320, "how many MiB the server may hold in all, with its code")
	flag.IntVar(&o.addresses, "addresses", 3, "from how many addresses each attack comes")
	flag.BoolVar(&o.tls, "tls", false, "over TLS")
	flag.StringVar(&o.only, "only", "", "one attack, such as 'slow bodies'")
	flag.IntVar(&o.flood, "flood", 1000, "idle connections, and as many with half a request")
	flag.IntVar(&o.readers, "readers", 900, "connections that do not read their answers")
	flag.IntVar(&o.uploads, "uploads", 128, "connections that do not send their bodies, of each kind")
	flag.DurationVar(&o.pause, "pause", 50*time.Millisecond, "pause of the second account after each request on one of its four connections; shorter is more load of all kinds")
	flag.DurationVar(&o.reopen, "reopen", 15*time.Second, "after what time a connection that the server closed is opened again")
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
	v, err := newVictim(o, s)
	if err != nil {
		return err
	}
	a, err := newAttackers(o, s)
	if err != nil {
		return err
	}
	alone := v.measure(min(20*time.Second, o.duration/2), s, false)
	fmt.Printf("Alone:\n\n%s\n", alone)
	s.samples = nil
	a.begin()
	attacked := v.measure(o.duration, s, true)
	a.end()
	fmt.Printf("Attacked for %v:\n\n%s\nA disabled account was served for %v.\n\n%s\n%s", o.duration, attacked, s.disabled.Round(time.Millisecond), s.series(), a)
	return v.judge(o, attacked)
}

// judge returns an error that lists the limits that the result exceeds.
func (v *victim) judge(o *options, r *result) error {
	s := v.s
	var problems []error
	if r.refused+r.failed > 0 {
		problems = append(problems, fmt.Errorf("%d requests of the second account were refused and %d failed: %w", r.refused, r.failed, errors.Join(v.wrong...)))
	}
	if s.disabled > 2*time.Second+500*time.Millisecond {
		problems = append(problems, fmt.Errorf("a disabled account was served for %v", s.disabled))
	}
	if n := most(s.samples, memory); n > o.rss {
		problems = append(problems, fmt.Errorf("the server held %d MiB", n))
	}
	if n := most(s.samples, files); n > o.files {
		problems = append(problems, fmt.Errorf("the server had %d files open", n))
	}
	if err := grows(s.samples, memory, 16); err != nil {
		problems = append(problems, fmt.Errorf("the memory in MiB grows %w", err))
	}
	if err := grows(s.samples, files, 16); err != nil {
		problems = append(problems, fmt.Errorf("the number of open files grows %w", err))
	}
	return errors.Join(problems...)
}
