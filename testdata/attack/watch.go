//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sample is the resource usage of a process at one moment.
type sample struct {
	at     time.Duration
	memory int // resident memory in MiB, including the program's code
	files  int
}

// look adds a sample of the server's memory and open files.
func (s *server) look(at time.Duration) error {
	proc := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	status, err := os.ReadFile(proc + "status")
	if err != nil {
		return fmt.Errorf("the server ended: %s", s.tail())
	}
	now := sample{at: at}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); f[0] == "VmRSS:" {
			kib, _ := strconv.Atoi(f[1])
			now.memory = kib / 1024
		}
	}
	files, err := os.ReadDir(proc + "fd")
	if err != nil {
		return fmt.Errorf("the server ended: %s", s.tail())
	}
	now.files = len(files)
	s.samples = append(s.samples, now)
	return nil
}

// used returns the CPU time that the server has used.
func (s *server) used() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * (time.Second / 100) // Linux counts CPU time in hundredths of a second
}

// usedHere returns the CPU time that this process has used. The process runs the attackers and the second account.
func usedHere() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// most returns the highest value of one field in all samples.
func most(list []sample, of func(sample) int) (n int) {
	for _, s := range list {
		n = max(n, of(s))
	}
	return n
}

func memory(s sample) int { return s.memory }
func files(s sample) int  { return s.files }

// grows returns an error if a field of the samples keeps growing. It compares the mean of the last quarter of the
// samples with the mean of the second quarter. It ignores the first quarter, because caches fill in that time. The
// mean may increase by a sixth. An increase of up to the parameter little is never an error.
func grows(list []sample, of func(sample) int, little int) error {
	mean := func(list []sample) int {
		sum := 0
		for _, s := range list {
			sum += of(s)
		}
		return sum / len(list)
	}
	if len(list) < 40 {
		return nil
	}
	quarter := len(list) / 4
	before, after := mean(list[quarter:2*quarter]), mean(list[3*quarter:])
	if after-before > max(before/6, little) {
		return fmt.Errorf("from %d in the second quarter to %d in the last one", before, after)
	}
	return nil
}
