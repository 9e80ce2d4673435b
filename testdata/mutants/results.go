package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// results holds the known results of mutants. Each new result is appended to a file at once.
type results struct {
	*os.File
	mu    sync.Mutex
	fates map[int]string
}

func openResults(path string) (*results, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	r := &results{File: f, fates: map[int]string{}}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		number, fate, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(number)
		if err != nil || fate != killed && fate != survived && fate != unreached {
			continue // a killed run may have left an incomplete last line
		}
		r.fates[n] = fate
	}
	return r, nil
}

// killedBefore marks the mutants that an earlier run of the same package killed, even if the tests have
// changed since.
func (r *results) killedBefore(base string) error {
	files, err := filepath.Glob(base + "-*")
	if err != nil {
		return err
	}
	for _, path := range files {
		if path == r.Name() {
			continue
		}
		earlier, err := openResults(path)
		if err != nil {
			return err
		}
		for n, fate := range earlier.fates {
			if fate == killed && r.fates[n] == "" {
				r.note(n, killed)
			}
		}
		earlier.Close()
	}
	return nil
}

func (r *results) of(n int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fates[n]
}

func (r *results) note(n int, fate string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fates[n] = fate
	if _, err := fmt.Fprintf(r.File, "%d %s\n", n, fate); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
}
