package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"edgetable/adapters/client/remote"
)

const startHelp = `Measures how long a server in memory, as tests start one, takes from its start to its first answer to a signed request.
It fails if half of the starts take 100 ms or more.`

// startMost is the maximum of the median of the start times.
const startMost = 100 * time.Millisecond

// runStart measures the starts of servers, one after another.
func runStart(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("bench start", startHelp, stderr)
	program := fs.String("edgetable", "bin/edgetable", "`path` of the program")
	starts := fs.Int("starts", 50, "`number` of starts")
	if err := parse(fs, args); err != nil {
		return err
	}
	if *starts < 1 {
		return misuse(fs, "-starts must be at least 1")
	}
	if _, err := os.Stat(*program); err != nil {
		return misuse(fs, "-edgetable: %v", err)
	}
	var times []time.Duration
	for range *starts {
		took, err := startOnce(ctx, *program)
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	half := times[len(times)/2]
	fmt.Fprintf(stdout, "start to first answer, in memory: median %v, least %v, most %v of %d (at most %v)\n",
		half.Round(100*time.Microsecond), times[0].Round(100*time.Microsecond), times[len(times)-1].Round(100*time.Microsecond), *starts, startMost)
	if half >= startMost {
		return errors.New("the start takes too long")
	}
	return nil
}

// startOnce starts a server, requests its tables, and stops it.
func startOnce(ctx context.Context, program string) (took time.Duration, err error) {
	c := exec.CommandContext(ctx, program, "serve", "--memory", "--listen", "127.0.0.1:0", "--until-eof")
	var said strings.Builder
	c.Stderr = &said
	in, err := c.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := c.Start(); err != nil {
		return 0, err
	}
	took, err = firstAnswer(ctx, out, begin)
	_ = in.Close()
	_, _ = io.Copy(io.Discard, out)
	if wait := c.Wait(); err == nil && wait != nil {
		err = wait
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, said.String())
	}
	return took, err
}

// firstAnswer waits until the server has printed the line that says "ready". Then it waits for the
// response to a first request.
func firstAnswer(ctx context.Context, out io.Reader, begin time.Time) (time.Duration, error) {
	connection := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if text, ok := strings.CutPrefix(line, "connection string"); ok {
			connection = strings.TrimSpace(text)
		}
		if line != "ready" {
			continue
		}
		at, err := remote.ParseConnection(connection)
		if err != nil {
			return 0, err
		}
		client := remote.New(at, 1)
		defer client.Close()
		_, err = client.Tables(ctx)
		return time.Since(begin), err
	}
	return 0, errors.New("the server ended before it was ready")
}
