package pebblestore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/store/pebblestore"
)

// childDir is the environment variable with the directory for the child process of TestKill. If it is set, this
// program runs as the child.
const childDir = "EDGETABLE_TEST_CHILD_DIR"

// partitions is the number of partitions to which the child writes, with one goroutine each.
const partitions = 8

// TestKill starts a process that writes, and kills the process after a random number of reported commits, 50
// times. The store must then have every reported commit and, per partition, at most one further complete
// commit.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 50
	if testing.Short() {
		kills = 10
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(7, 7))
	done := make([]int, partitions) // number of commits in the store, by partition
	for range kills {
		reported := runChild(t, dir, done, 1+random.IntN(400))
		checkRecovered(t, dir, done, reported)
		if t.Failed() {
			return
		}
	}
	t.Logf("commits of the partitions: %v", done)
}

// runChild starts a child process, which continues each history. The parameter done has the number of earlier
// commits of each partition. runChild kills the child after n further commits, and returns the number of
// reported commits of each partition.
func runChild(t *testing.T, dir string, done []int, n int) []int {
	t.Helper()
	args := []string{"-test.run=^$"}
	for _, d := range done {
		args = append(args, strconv.Itoa(d))
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reported := append([]int(nil), done...)
	lines := bufio.NewReader(out)
	for {
		// The kill may truncate the last line. The test ignores such a line.
		line, err := lines.ReadString('\n')
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		var p, i int
		if _, err := fmt.Sscanf(line, "%d %d\n", &p, &i); err != nil {
			t.Errorf("child says %q", line)
			break
		}
		reported[p] = i
		if n--; n == 0 {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	cmd.Process.Kill() // the child may still run if the loop ended early
	cmd.Wait()         // returns an error, because the child was killed
	if n > 0 {
		t.Errorf("child ended before it was killed: %v", cmd.ProcessState)
	}
	return reported
}

// checkRecovered opens the store and checks that it has the reported commits. It stores the number
// of commits of each partition in the slice done.
func checkRecovered(t *testing.T, dir string, done, reported []int) {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir}.Small())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	histories := expectedHistories(reported, 1)
	states, err := readAll(t.Context(), s, people, histories)
	if err != nil {
		t.Fatal(err)
	}
	for p, h := range histories {
		if done[p], err = h.find(states[p], reported[p]); err != nil {
			t.Error(err)
		}
	}
}

// expectedHistories returns a history for each partition p. The number of its commits is the sum
// done[p] + more.
func expectedHistories(done []int, more int) []*history {
	list := make([]*history, len(done))
	for p := range list {
		list[p] = newHistory(p)
		for range done[p] + more {
			list[p].next()
		}
	}
	return list
}

// child writes until it is killed, and prints a line for every confirmed commit.
func child(dir string, args []string) error {
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir}.Small())
	if err != nil {
		return err
	}
	if err := create(context.Background(), s); err != nil {
		return err
	}
	done := make([]int, partitions)
	for p, arg := range args[len(args)-partitions:] {
		if done[p], err = strconv.Atoi(strings.TrimSpace(arg)); err != nil {
			return err
		}
	}
	var (
		load   sync.WaitGroup
		mu     sync.Mutex
		failed error
	)
	for p, h := range expectedHistories(done, 0) {
		load.Go(func() {
			for i := done[p] + 1; ; i++ {
				_, err := s.Commit(context.Background(), people, h.next())
				mu.Lock()
				if err == nil {
					_, err = fmt.Printf("%d %d\n", p, i)
				}
				if err != nil {
					failed = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	load.Wait()
	return failed
}
