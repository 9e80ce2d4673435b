package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
)

// TestFollowers runs the example programs of examples/changes, which process the changes of a table. It kills the
// programs while the table changes. In the end, the results of each program must match the state of the table.
func TestFollowers(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Make)
	const word = `import json, sqlite3, sys
print(json.dumps(dict(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())))`
	for name, tt := range map[string]struct {
		program string // arguments of the program; FILE stands for the file with the program's results
		query   string // SQL query that reads the results of the program as pairs of key and value
		want    func(orders map[string]string) map[string]int
	}{
		"search": {"FILE", "SELECT subject, 1 FROM entity WHERE entity MATCH 'paid'", func(orders map[string]string) map[string]int {
			found := map[string]int{}
			for subject, state := range orders {
				if state == "paid" {
					found[subject] = 1
				}
			}
			return found
		}},
		"count": {"FILE State", "SELECT value, entities FROM number WHERE entities > 0", func(orders map[string]string) map[string]int {
			number := map[string]int{}
			for _, state := range orders {
				number[state]++
			}
			return number
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := runFollower(t, name+".py", tt.program)
			for round := range 4 {
				f.kill(t, round)
			}
			orders := f.orders(t)
			f.finish(t)
			out, err := exec.Command("python3", "-c", word, f.file, tt.query).Output()
			must.OK(t, err)
			got := map[string]int{}
			must.OK(t, json.Unmarshal(out, &got))
			if want := tt.want(orders); fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 {
				t.Errorf("it has\n%v\nof the table\n%v", got, want)
			}
		})
	}
	t.Run("work", func(t *testing.T) {
		t.Parallel()
		f := runFollower(t, "work.py", `FILE 'cat >> FILE.done; echo >> FILE.done'`)
		for round := range 4 {
			f.kill(t, round)
		}
		orders := f.orders(t)
		f.finish(t)
		text, err := os.ReadFile(f.file + ".done")
		must.OK(t, err)
		for subject, state := range orders {
			row := strings.TrimSuffix(subject[strings.LastIndex(subject, "RowKey='")+len("RowKey='"):], "')")
			if !strings.Contains(string(text), fmt.Sprintf(`"RowKey": "%s"`, row)) || !strings.Contains(string(text), state) {
				t.Errorf("no work was done for %s, %s", subject, state)
			}
		}
		before := len(text)
		must.OK(t, os.Remove(f.state)) // without its saved state, the program gets all entities again
		f.finish(t)
		if text, err = os.ReadFile(f.file + ".done"); err != nil || len(text) != before {
			t.Errorf("work was done twice: %s, %v", text[before:], err)
		}
	})
	t.Run("cache", func(t *testing.T) {
		t.Parallel()
		f := runFollower(t, "cache.py", "FILE")
		must.OK(t, os.Mkdir(f.file, 0o700))
		f.finish(t)
		for _, name := range []string{"p,1", "p,2", url.PathEscape("a b") + ",1"} {
			must.OK(t, os.WriteFile(filepath.Join(f.file, name), nil, 0o600))
		}
		f.put(t, "p", "1", "new")
		f.put(t, "a b", "1", "new")
		f.finish(t)
		if left, err := os.ReadDir(f.file); err != nil || len(left) != 1 || left[0].Name() != "p,2" {
			t.Errorf("the cache has %v, %v", left, err)
		}
		f.do.run(0, "tables", "delete", "Orders", "--yes", "--in", f.at)
		out, said := f.do.run(4, append(f.watch, "--once")...)
		if left, err := os.ReadDir(f.file); err != nil || len(left) != 0 {
			t.Errorf("after the drop the cache has %v, %v: %s%s", left, err, out, said)
		}
	})
}

// follower has an example program and a server. The program applies the changes of the server's table Orders.
type follower struct {
	do          console
	at          string
	client      *remote.Client
	file, state string
	watch       []string
}

func runFollower(t *testing.T, program, args string) *follower {
	t.Helper()
	dir := t.TempDir()
	at := start(t, nil, "--memory").greetingText(t, "connection string")
	e, err := remote.ParseConnection(at)
	must.OK(t, err)
	f := &follower{console{t, nil}, at, remote.New(e, 1), filepath.Join(dir, "kept"), filepath.Join(dir, "state"), nil}
	t.Cleanup(f.client.Close)
	path, err := filepath.Abs(filepath.Join("../../examples/changes", program))
	must.OK(t, err)
	command := "python3 " + path + " " + strings.ReplaceAll(args, "FILE", f.file)
	f.watch = []string{"watch", "Orders", "--initial", "--state", f.state, "--exec", command, "--from", at}
	f.do.run(0, "tables", "create", "Orders", "--to", at)
	f.do.run(0, "tables", "set", "Orders", "--changes", "P1D", "--to", at)
	return f
}

func (f *follower) put(t *testing.T, partition, row, state string) {
	t.Helper()
	properties := edm.AppendProperty(nil, "State", edm.String(state))
	must.OK(t, f.client.Write(t.Context(), "Orders", &remote.Operation{
		Kind: remote.Replace, PartitionKey: partition, RowKey: row, Body: payload.AppendJSON(nil, partition, row, 0, properties),
	}))
}

// kill runs 'edgetable watch' with the example program. While the command runs, kill writes and
// deletes entities of the table Orders. In the end, the command is killed.
func (f *follower) kill(t *testing.T, round int) {
	t.Helper()
	self, err := os.Executable()
	must.OK(t, err)
	c := exec.Command(self, f.watch...)
	c.Env = append(os.Environ(), mainVariable+"=1")
	left, held, err := os.Pipe()
	must.OK(t, err)
	defer left.Close()
	c.ExtraFiles = []*os.File{held} // the program inherits it
	must.OK(t, c.Start())
	must.OK(t, held.Close())
	rnd := rand.New(rand.NewPCG(uint64(round), 1))
	for range 60 {
		row := fmt.Sprint("r", rnd.IntN(20))
		if rnd.IntN(4) > 0 {
			f.put(t, "p", row, []string{"new", "paid", "sent"}[rnd.IntN(3)])
			continue
		}
		err := f.client.Write(t.Context(), "Orders", &remote.Operation{Kind: remote.Delete, PartitionKey: "p", RowKey: row})
		if err != nil && !remote.HasCode(err, "ResourceNotFound") {
			t.Fatal(err)
		}
	}
	must.OK(t, c.Process.Signal(syscall.SIGKILL))
	_ = c.Wait()
	_, err = io.ReadAll(left) // the program goes on after the kill, and has not ended before
	must.OK(t, err)
	if round%2 == 0 { // let the program finish, so that the next run begins with a saved state
		f.finish(t)
	}
}

// finish runs the program until it has processed all changes.
func (f *follower) finish(t *testing.T) {
	t.Helper()
	f.do.run(0, append(f.watch, "--once")...)
}

// orders returns the state of each order, by the key of its entity.
func (f *follower) orders(t *testing.T) map[string]string {
	t.Helper()
	out, _ := f.do.run(0, "watch", "Orders", "--initial", "--once", "--json", "--from", f.at)
	orders := map[string]string{}
	for line := range strings.Lines(out) {
		var e struct {
			Subject string
			Data    struct{ State string }
		}
		must.OK(t, json.Unmarshal([]byte(line), &e))
		orders[e.Subject] = e.Data.State
	}
	return orders
}
