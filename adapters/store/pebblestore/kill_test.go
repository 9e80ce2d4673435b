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

// childDir is the variable that makes this program the child of TestKill.
const childDir = "EDGETABLE_TEST_CHILD_DIR"

// partitions is the number of partitions that the child writes, with one
// goroutine each.
const partitions = 8

// TestKill kills a process that writes, 50 times, each after a random number of
// commits that it has reported. After each kill, every reported commit must be
// there, and at most one further commit per partition, complete.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 50
	if testing.Short() {
		kills = 10
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(7, 7))
	done := make([]int, partitions) // commits in the store
	for range kills {
		reported := runChild(t, dir, done, 1+random.IntN(400))
		recovered(t, dir, done, reported)
		if t.Failed() {
			return
		}
	}
	t.Logf("commits of the partitions: %v", done)
}

// runChild starts a child that continues the histories, kills it after n commits, and
// returns the commits it reported.
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
		// A truncated last line does not count as reported.
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
	cmd.Process.Kill() // if the loop ended early
	cmd.Wait()         // returns an error, because the child was killed
	if n > 0 {
		t.Errorf("child ended before it was killed: %v", cmd.ProcessState)
	}
	return reported
}

// recovered opens the store and finds the commits in it.
func recovered(t *testing.T, dir string, done, reported []int) {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir}.Small())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	histories := told(reported, 1)
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

// told returns the histories up to the given commits and a few more.
func told(done []int, more int) []*history {
	list := make([]*history, len(done))
	for p := range list {
		list[p] = newHistory(p)
		for range done[p] + more {
			list[p].next()
		}
	}
	return list
}

// child writes without end and reports every acknowledged commit.
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
	for p, h := range told(done, 0) {
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
