package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// keepLines is a shell command that appends its input to a file. It uses only the shell, because the system in which a
// test runs may have no other program.
const keepLines = `while read -r line; do printf '%s\n' "$line"; done >> `

// TestWatch checks that watch prints a table and its changes. It must remember what it has printed, and can pass
// changes to a command.
func TestWatch(t *testing.T) {
	t.Parallel()
	server := start(t, nil, "--memory")
	at, endpoint := server.greetingText(t, "connection string"), server.greetingText(t, "endpoint")
	do := console{t, nil}
	state := filepath.Join(t.TempDir(), "state")
	put := func(row, name string) {
		t.Helper()
		do.run(0, "put", "People", fmt.Sprintf(`{"PartitionKey":"a","RowKey":"%s","Name":"%s"}`, row, name), "--to", at)
	}
	watch := func(want string, args ...string) {
		t.Helper()
		out, _ := do.run(0, append([]string{"watch", "People", "--once", "--from", at}, args...)...)
		var short strings.Builder // lines without Timestamps
		for line := range strings.Lines(out) {
			head, data, _ := strings.Cut(strings.TrimSpace(line), " {")
			if _, name, ok := strings.Cut(data, `"Name":"`); ok {
				head += "=" + strings.TrimSuffix(name, `"}`)
			}
			short.WriteString(head + "\n")
		}
		if short.String() != want {
			t.Errorf("watch %q prints\n%swant\n%s", args, out, want)
		}
	}
	do.run(0, "tables", "create", "People", "--to", at)
	put("0", "Ada")
	do.says(cli.StatusFailed, "edgetable tables set TABLE --changes", "watch", "People", "--once", "--from", at)
	do.run(0, "tables", "set", "People", "--changes", "P1D", "--to", at)
	const key = "(PartitionKey='a',RowKey='%s')"
	k0, k1, k2 := fmt.Sprintf(key, "0"), fmt.Sprintf(key, "1"), fmt.Sprintf(key, "2")
	watch("") // prints nothing, because without --initial it prints only later changes
	watch("put "+k0+"=Ada\n", "--initial", "--state", state)
	put("1", "Grace")
	put("2", "Lin")
	put("1", "Joan")
	do.run(0, "delete", "People", "a", "0", "--in", at)
	changes := "put " + k1 + " superseded\nput " + k2 + "=Lin\nput " + k1 + "=Joan\ndelete " + k0 + "\n"
	watch(changes, "--since", "start")
	do.says(cli.StatusFailed, "watch repeats these changes", "watch", "People", "--once", "--from", at, "--state", state, "--exec", "exit 3")
	copied := filepath.Join(t.TempDir(), "copied")
	watch("", "--state", state, "--exec", keepLines+copied)
	watch("", "--state", state)
	var kinds []string
	text, err := os.ReadFile(copied)
	must.OK(t, err)
	for line := range strings.Lines(string(text)) {
		var e struct{ Type, Source string }
		must.OK(t, json.Unmarshal([]byte(line), &e))
		kinds = append(kinds, e.Type)
		if e.Source != "/devstoreaccount1/People" {
			t.Errorf("the source is %s", e.Source)
		}
	}
	if got := strings.Join(kinds, " "); got != "edgetable.entity.put edgetable.entity.put edgetable.entity.put edgetable.entity.delete" {
		t.Errorf("the command got %s", got)
	}
	// The event for an existing entity has the same id as the event for the last write of this entity.
	id := func(args ...string) string {
		t.Helper()
		out, _ := do.run(0, append([]string{"watch", "People", "--once", "--json", "--from", at}, args...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var e struct{ ID string }
		for _, line := range lines {
			if strings.Contains(line, "Joan") {
				must.OK(t, json.Unmarshal([]byte(line), &e))
			}
		}
		return e.ID
	}
	if listed, told := id("--initial"), id("--since", "start"); listed == "" || listed != told {
		t.Errorf("the ids are %s and %s", listed, told)
	}
	for first, want := range map[string]int{"a": 4, "b": 0} {
		sas, _ := do.run(0, "sas", "-q", "--endpoint", endpoint, "--table", "People", "--permissions", "read", "--from-partition", first)
		out, _ := do.run(0, "watch", "People", "--once", "--since", "start", "--from", endpoint+"?"+strings.TrimSpace(sas))
		if strings.Count(out, "\n") != want {
			t.Errorf("a signature for keys from %s on shows %s", first, out)
		}
	}
	do.run(0, "tables", "create", "Other", "--to", at)
	do.says(cli.StatusFailed, "is the state of table People", "watch", "Other", "--state", state, "--from", at)
	must.OK(t, os.WriteFile(state+".null", []byte("null"), 0o600))
	do.says(cli.StatusFailed, "is not a state file of a table", "watch", "People", "--state", state+".null", "--from", at)
	do.says(cli.StatusUsage, "--since excludes", "watch", "People", "--since", "start", "--initial", "--from", at)
	do.says(cli.StatusFailed, "InvalidQueryParameterValue", "watch", "People", "--since", "x", "--from", at)
	do.run(0, "tables", "delete", "People", "--yes", "--in", at)
	out, said := do.run(cli.StatusDamage, "watch", "People", "--state", state, "--from", at)
	if out != "table.drop\n" || !strings.Contains(said, "FeedEnded") || !strings.Contains(said, "remove "+state) {
		t.Errorf("after the drop: %s%s", out, said)
	}
}

// TestWatchOnceWithin runs watch --once with a signature for a range of keys. It must print all changes in that range,
// even if a response contains only changes outside the range. The test also deletes entities that do not exist, and
// such deletions make no events.
func TestWatchOnceWithin(t *testing.T) {
	t.Parallel()
	const others, writers = 14_000, 4
	server := start(t, nil, "--memory")
	at := server.greetingText(t, "connection string")
	do := console{t, nil}
	do.run(0, "tables", "create", "Rows", "--to", at)
	do.run(0, "tables", "set", "Rows", "--changes", "P1D", "--to", at)
	e, err := remote.ParseConnection(at)
	must.OK(t, err)
	clients := remote.New(e, writers)
	defer clients.Close()
	var all sync.WaitGroup
	for range writers {
		rnd := rand.New(rand.NewPCG(1, 2))
		all.Go(func() {
			for range others / writers {
				if err := write(t, clients, rnd); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	do.run(0, "put", "Rows", `{"PartitionKey":"z","RowKey":"1"}`, "--to", at)
	sas, _ := do.run(0, "sas", "-q", "--endpoint", server.greetingText(t, "endpoint"), "--table", "Rows", "--permissions", "read", "--from-partition", "z")
	out, _ := do.run(0, "watch", "Rows", "--once", "--since", "start", "--from", server.greetingText(t, "endpoint")+"?"+strings.TrimSpace(sas))
	if strings.Count(out, "\n") != 1 {
		t.Errorf("the one change in the range is not told: %q", out)
	}
}

// TestWatchKilled repeatedly kills the server and watch while several clients write. In the end, the printed events
// must have the state of the table. After a restore of the server, watch must report that it may have missed changes.
func TestWatchKilled(t *testing.T) {
	t.Parallel()
	const rounds, writers, writes = 3, 4, 120
	dir := t.TempDir()
	k := &killRunner{t: t, data: filepath.Join(dir, "data")}
	k.target = startProcess(t, nil, "--data", k.data)
	at := k.target.greetingText(t, "connection string")
	k.at, _, _ = strings.Cut(strings.TrimPrefix(k.target.greetingText(t, "endpoint"), "http://"), "/")
	do := console{t, nil}
	do.run(0, "tables", "create", "Rows", "--to", at)
	do.run(0, "tables", "set", "Rows", "--changes", "P1D", "--to", at)
	e, err := remote.ParseConnection(at)
	must.OK(t, err)
	clients := remote.New(e, writers)
	defer clients.Close()
	told, state := filepath.Join(dir, "told"), filepath.Join(dir, "state")
	watch := []string{"watch", "Rows", "--initial", "--state", state, "--exec", keepLines + told, "--from", at}
	self, err := os.Executable()
	must.OK(t, err)
	for round := range rounds {
		follower := exec.Command(self, watch...)
		follower.Env = []string{mainVariable + "=1", "HOME=" + dir}
		must.OK(t, follower.Start())
		wait := writeHalf(t, clients, round, writers, writes)
		k.restart()
		if round%2 == 0 {
			must.OK(t, follower.Process.Signal(syscall.SIGKILL))
		}
		wait()
		_ = follower.Process.Kill() // the error is ignored: if the server did not respond, the process has already ended
		_ = follower.Wait()
	}
	do.run(0, append(watch, "--once")...)
	want := map[string]string{}
	for e, err := range clients.Entities(t.Context(), remote.Query{Table: "Rows"}) {
		must.OK(t, err)
		want[e.PartitionKey+" "+e.RowKey] = e.Timestamp.String()
	}
	got, events := replayEvents(t, told)
	for key, at := range want {
		if got[key] != at {
			t.Errorf("%s is of %s in the table, the follower has %q", key, at, got[key])
		}
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("the follower has %d entities, the table %d", len(got), len(want))
	}
	t.Logf("%d events, %d entities at the end", events, len(want))

	backups, restored := filepath.Join(dir, "backups"), filepath.Join(dir, "restored")
	do.run(0, "backup", "create", backups, "--data", k.data)
	must.OK(t, write(t, clients, rand.New(rand.NewPCG(9, 9))))
	do.run(0, append(watch, "--once")...)
	do.run(0, "backup", "restore", backups, restored)
	k.data = restored
	k.restart()
	if _, said := do.run(cli.StatusDamage, append(watch, "--once")...); !strings.Contains(said, "HistoryChanged") {
		t.Errorf("after a restore: %s", said)
	}
	must.OK(t, os.Remove(state))
	must.OK(t, os.Remove(told))
	do.run(0, append(watch, "--once")...)
	if got, _ := replayEvents(t, told); len(got) != len(want) {
		t.Errorf("a new follower has %d entities, the table %d", len(got), len(want))
	}
}

// writeHalf starts writers with this many writes each. It returns when half of all writes are done. The returned
// function waits for the other writes.
func writeHalf(t *testing.T, c *remote.Client, round, writers, writes int) (wait func()) {
	t.Helper()
	var done atomic.Int64
	half := make(chan struct{})
	var all sync.WaitGroup
	for w := range writers {
		rnd := rand.New(rand.NewPCG(uint64(round), uint64(w)))
		all.Go(func() {
			for range writes {
				if err := write(t, c, rnd); err != nil {
					t.Error(err)
				}
				if done.Add(1) == int64(writers*writes/2) {
					close(half)
				}
			}
		})
	}
	<-half
	return all.Wait
}

// write sends one request, which replaces or deletes one of 60 entities.
func write(t *testing.T, c *remote.Client, rnd *rand.Rand) error {
	op := remote.Operation{Kind: remote.Replace, PartitionKey: fmt.Sprint("p", rnd.IntN(3)), RowKey: fmt.Sprint(rnd.IntN(20))}
	if op.Body = payload.AppendJSON(nil, op.PartitionKey, op.RowKey, 0, nil); rnd.IntN(4) == 0 {
		op.Kind, op.Body = remote.Delete, nil
	}
	err := c.Write(t.Context(), "Rows", &op)
	if remote.HasCode(err, "ResourceNotFound") {
		return nil
	}
	return err
}

// replayEvents applies the events in a file, in order. It returns the Timestamps of the entities that then exist.
func replayEvents(t *testing.T, file string) (state map[string]string, events int) {
	t.Helper()
	text, err := os.ReadFile(file)
	must.OK(t, err)
	state = map[string]string{}
	for line := range bytes.Lines(text) {
		var e struct {
			Type, PartitionKey, Subject string
			Data                        *struct{ PartitionKey, RowKey, Timestamp string }
		}
		line = line[max(0, bytes.LastIndex(line, []byte(`{"specversion"`))):] // a kill may have left a part of an event at the start of this line
		if err := json.Unmarshal(line, &e); err != nil {
			continue
		}
		events++
		_, row, _ := strings.Cut(e.Subject, "RowKey='")
		key := e.PartitionKey + " " + strings.TrimSuffix(row, "')")
		switch {
		case e.Data != nil:
			state[key] = e.Data.Timestamp
		case strings.HasSuffix(e.Type, ".delete"):
			delete(state, key)
		}
	}
	return state, events
}
