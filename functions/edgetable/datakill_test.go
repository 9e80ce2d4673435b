package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// killRunner runs a command in a separate process and kills the process. It repeats both steps until
// the command succeeds. It may also kill the server.
type killRunner struct {
	t       *testing.T
	rnd     *rand.Rand
	target  *process // server, which is sometimes killed instead of the command; nil if only the command is killed
	at      string   // address of the server
	data    string
	longest time.Duration // longest time before a kill; increased after each kill
	kills   int
	servers int    // number of kills of the server
	remake  func() // deletes the table in the target, and usually creates the table again; called before some kills; may be nil
	remakes int
}

// run repeats a command until the command ends without being killed.
func (k *killRunner) run(args ...string) {
	k.t.Helper()
	self, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	for attempts := time.Duration(0); ; attempts++ {
		var said bytes.Buffer
		c := exec.Command(self, args...)
		c.Env, c.Stderr = []string{mainVariable + "=1", "HOME=" + os.Getenv("HOME")}, &said
		if err := c.Start(); err != nil {
			k.t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case err = <-ended:
		case <-time.After(time.Duration(k.rnd.Int64N(int64(k.longest + k.longest*attempts/4)))):
			k.kills++
			if k.remake != nil && k.rnd.IntN(3) == 0 {
				k.remakes++
				k.remake()
				if k.rnd.IntN(2) == 0 { // kill only half of the processes, so that the others find a table that was deleted or created again
					_ = c.Process.Kill() // the error is ignored, because the process may just have ended
				}
				<-ended
				continue // repeat the command even after success, because it may have ended before the table was deleted
			}
			if k.target != nil && k.rnd.IntN(4) == 0 {
				k.servers++
				k.restart()
				err = <-ended
				break
			}
			if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) { // the error is ignored, because the process may just have ended
				k.t.Fatal(err)
			}
			<-ended
			continue
		}
		if err == nil || strings.Contains(said.String(), "5 rows refused") {
			return
		}
		if text := said.String(); k.remakes > 0 && (text == "" || strings.Contains(text, "404 Table") || strings.Contains(text, "409 TableBeingDeleted") ||
			strings.Contains(text, "was deleted and created again") || !strings.Contains(text, "edgetable: ")) { // the command was killed
			continue
		}
		if !strings.Contains(said.String(), "connect") && !strings.Contains(said.String(), "nothing listens") && !strings.Contains(said.String(), "EOF") { // the process was killed
			k.t.Fatalf("%q: %v\n%s", args, err, &said)
		}
	}
}

func (k *killRunner) restart() {
	k.target.signal(k.t, syscall.SIGKILL)
	_ = k.target.Wait() // the error is ignored, because it only says that the process was killed
	k.target = startProcess(k.t, nil, "--data", k.data, "--listen", k.at)
}

// numberFrom returns the number in an environment variable. If the variable is not set, the result
// is the default (the parameter usual).
func numberFrom(t *testing.T, name string, usual int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestKilled kills commands at random moments, with and without their server. The result must be the
// same as without kills: all bytes of an export, and all entities of the other commands. The file of
// refused rows must have each row once. These settings give a hundred kills for each kind of command:
//
//	EDGETABLE_MANY=1 EDGETABLE_KILLS=100 go test ./functions/edgetable -run TestKilled -v -timeout 60m
//
// EDGETABLE_KILL_SEED repeats the random choices of a run that failed.
func TestKilled(t *testing.T) {
	t.Parallel()
	points, seed := int(numberFrom(t, "EDGETABLE_KILLS", int64(killPoints))), numberFrom(t, "EDGETABLE_KILL_SEED", 1)
	source := start(t, nil, "--memory")
	from := source.greetingText(t, "connection string")
	dir := t.TempDir()
	var lines []string
	for i := range killRows {
		partition := fmt.Sprintf("p%03d", i%50)
		if i%2 == 0 {
			partition = "hot"
		}
		lines = append(lines, fmt.Sprintf(`{"PartitionKey":"%s","RowKey":"%07d","N":%d,"Text":"%s"}`, partition, i, i, strings.Repeat("x", i%killText)))
	}
	rand.New(rand.NewPCG(2, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	good := filepath.Join(dir, "Good.jsonl")
	must.OK(t, os.WriteFile(good, []byte(strings.Join(lines, "\n")), 0o600))
	for i := range 5 {
		lines = slices.Insert(lines, i*len(lines)/5, `{"PartitionKey":"no row"}`)
	}
	bad := filepath.Join(dir, "Bad.jsonl")
	must.OK(t, os.WriteFile(bad, []byte(strings.Join(lines, "\n")), 0o600))
	do := console{t, nil}
	do.run(0, "import", good, "--table", "Rows", "--to", from)
	whole, _ := do.run(0, "export", "Rows", "--from", from, "--to", "-")
	k := &killRunner{t: t, rnd: rand.New(rand.NewPCG(uint64(seed), 0)), longest: time.Second / 2}
	defer func() {
		t.Logf("%d kills, %d of them of the server, %d new tables, with EDGETABLE_KILL_SEED=%d", k.kills, k.servers, k.remakes, seed)
	}()

	for n, end := 0, points; n == 0 || k.kills < end; n++ { // each iteration uses a new directory and a new table
		out := filepath.Join(dir, fmt.Sprint("out", n))
		k.run("export", "Rows", "--from", from, "--to", out)
		parts, err := filepath.Glob(filepath.Join(out, "Rows", "*"))
		must.OK(t, err)
		var text strings.Builder
		for _, part := range parts {
			one, err := os.ReadFile(part)
			must.OK(t, err)
			text.Write(one)
		}
		if text.String() != whole {
			t.Fatalf("the export has %d bytes of %d", text.Len(), len(whole))
		}
	}

	k.data = filepath.Join(dir, "data")
	k.target = startProcess(t, nil, "--data", k.data)
	to := k.target.greetingText(t, "connection string")
	k.at = strings.TrimPrefix(k.target.greetingText(t, "endpoint"), "http://")
	k.at, _, _ = strings.Cut(k.at, "/")
	equal := func() {
		t.Helper()
		if out, _ := do.run(0, "verify", "Rows", "--from", from, "--to", to); out != fmt.Sprintf("Rows: %s entities are equal, 0 are not\n", cli.Commas(int64(killRows))) {
			t.Fatal(out)
		}
	}
	k.remake = func() {
		e, err := remote.ParseConnection(to)
		must.OK(t, err)
		owner := remote.New(e, 1)
		defer owner.Close()
		if err := owner.DeleteTable(t.Context(), "Rows"); !remote.HasCode(err, "TableNotFound", "ResourceNotFound") {
			must.OK(t, err)
		}
		if k.rnd.IntN(3) > 0 {
			_, err := owner.CreateTable(t.Context(), "Rows")
			if !remote.HasCode(err, "TableAlreadyExists") {
				must.OK(t, err)
			}
		}
	}
	clear := func() { do.run(0, "delete", "Rows", "--in", to, "--filter", "PartitionKey ge ''", "--yes") }
	for n, end := 0, k.kills+points; n == 0 || k.kills < end; n++ {
		if n > 0 {
			clear()
		}
		rejects, saved := filepath.Join(dir, fmt.Sprint("rejects", n)), filepath.Join(dir, fmt.Sprint("import", n))
		k.run("import", bad, "--table", "Rows", "--to", to, "--rejects", rejects, "--progress-file", saved)
		equal()
		if text, err := os.ReadFile(rejects); err != nil || bytes.Count(text, []byte("\n")) != 5 {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for n, end := 0, k.kills+points; n == 0 || k.kills < end; n++ {
		clear()
		k.run("copy", "Rows", "--from", from, "--to", to, "--progress-file", filepath.Join(dir, fmt.Sprint("copy", n)), "--rejects", filepath.Join(dir, "copied"))
		equal()
	}
	for n, end := 0, k.kills+points; n == 0 || k.kills < end; n++ {
		do.run(0, "delete", "Rows", "--in", to, "--filter", "N lt 2000", "--yes")
		do.run(0, "put", "Rows", fmt.Sprintf(`{"PartitionKey":"new","RowKey":"%d"}`, n), "--to", to)
		k.run("sync", "Rows", "--from", from, "--to", to, "--delete", "--progress-file", filepath.Join(dir, "sync"), "--rejects", filepath.Join(dir, "synced"))
		equal()
	}
	if points >= killPoints && killPoints > 1 && k.servers == 0 {
		t.Error("no server was killed")
	}
}
