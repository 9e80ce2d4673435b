package workerd_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"edgetable/testdata/edge/workerd"
)

// buildProgram returns the path of the edgetable binary: of EDGETABLE_BINARY, if it is set. Otherwise, it builds the binary
// once, in the directory data, which TestMain removes.
var buildProgram = sync.OnceValues(func() (string, error) {
	if file := os.Getenv("EDGETABLE_BINARY"); file != "" {
		_, err := os.Stat(file) // go test then knows that the result depends on this file
		return file, err
	}
	file := filepath.Join(data, "edgetable")
	out, err := exec.Command("go", "build", "-o", file, "edgetable/functions/edgetable").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return file, err
})

// program returns the path of the edgetable binary.
func program(t *testing.T) string {
	t.Helper()
	file, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// connection returns a connection string for the account acme on a Worker.
func connection(s *workerd.Server) string {
	return "AccountName=acme;AccountKey=c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=;TableEndpoint=" + s.Worker + "/acme"
}

// watching runs 'edgetable watch' for a table of a Worker, with a state file.
type watching struct {
	t             *testing.T
	binary, state string
	from          string // connection string of the account
}

func (w *watching) command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, w.binary, append([]string{"watch", "watched", "--initial", "--state", w.state, "--from", w.from}, args...)...)
}

// once runs 'edgetable watch --once'. It returns the exit status and the printed events, without the entities in these
// events.
func (w *watching) once() (status int, events string) {
	w.t.Helper()
	c := w.command(w.t.Context(), "--once")
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		w.t.Fatalf("%v: %s", err, said.String())
	}
	for line := range strings.Lines(string(out)) {
		head, _, _ := strings.Cut(strings.TrimSpace(line), " {")
		events += head + "\n"
	}
	return c.ProcessState.ExitCode(), events
}

// TestWatch checks 'edgetable watch' with a table of a Worker. The command lists the entities of the table and then
// prints changes. After the command was killed, the next run must print the missed changes. When the table was
// deleted, the exit status must be 4.
func TestWatch(t *testing.T) {
	s := sharing(t, "EDGETABLE_BUCKETS=2")
	must(t, 201, s, "POST", "acme", "/Tables", "", `{"TableName":"watched"}`)
	must(t, 204, s, "PUT", "acme", "/watched?comp=options", "", `{"changes":{"keep":"P7D"}}`)
	key := func(row string) string { return "(PartitionKey='p" + row + "',RowKey='" + row + "')" }
	put(t, s, "/watched"+key("0"))
	w := &watching{t: t, binary: program(t), state: filepath.Join(t.TempDir(), "state"), from: connection(s)}

	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	c := w.command(ctx)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, row := range []string{"0", "1", "2"} { // the command prints row 0 in its first list of entities, and the other rows as changes
		if !lines.Scan() || !strings.Contains(lines.Text(), key(row)) {
			t.Fatalf("it prints %q, want %s", lines.Text(), key(row))
		}
		put(t, s, "/watched"+key(string(row[0]+1)))
	}
	kill()
	told := ""
	for lines.Scan() {
		told += lines.Text()
	}
	_ = c.Wait() // the error is ignored, because it only says that the process was killed
	must(t, 204, s, "DELETE", "acme", "/watched"+key("1"), "", "")

	// The next run may print the last events again: the killed command may not have stored its latest position.
	status, events := w.once()
	if status != 0 || !strings.HasSuffix(events, "delete "+key("1")+"\n") || !strings.Contains(told+events, "put "+key("3")) {
		t.Errorf("after a kill: status %d\n%s", status, events)
	}
	if status, events := w.once(); status != 0 || events != "" {
		t.Errorf("when nothing happened: status %d\n%s", status, events)
	}
	must(t, 204, s, "DELETE", "acme", "/Tables('watched')", "", "")
	if status, events := w.once(); status != 4 || events != "table.drop\n" {
		t.Errorf("after the drop: status %d\n%s", status, events)
	}
}

// TestCopyFollow checks that the binary copies a table from one Worker to another, and that later runs copy only the
// changes since then.
func TestCopyFollow(t *testing.T) {
	from, to := sharing(t, "EDGETABLE_BUCKETS=2"), sharing(t)
	must(t, 201, from, "POST", "acme", "/Tables", "", `{"TableName":"followed"}`)
	must(t, 204, from, "PUT", "acme", "/followed?comp=options", "", `{"changes":{"keep":"P7D"}}`)
	binary, state := program(t), filepath.Join(t.TempDir(), "state")
	run := func(want string, args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), binary, args...)
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %q: %s", args[0], err, want, out)
		}
	}
	follow := func(want string) {
		t.Helper()
		run(want, "copy", "followed", "--follow", "--once", "--from", connection(from), "--to", connection(to), "--progress-file", state, "--rejects", state+".rejects")
		run("", "verify", "followed", "--from", connection(from), "--to", connection(to))
	}
	for _, row := range []string{"0", "1", "2"} {
		put(t, from, "/followed(PartitionKey='p"+row+"',RowKey='r')")
	}
	follow("3 rows written")
	put(t, from, "/followed(PartitionKey='p3',RowKey='r')")
	must(t, 204, from, "DELETE", "acme", "/followed(PartitionKey='p1',RowKey='r')", "", "")
	follow("1 row written, 1 deleted")
	follow("")
	if page := must(t, 200, to, "GET", "acme", "/followed()", "", ""); strings.Count(page, `"PartitionKey"`) != 3 || strings.Contains(page, `"p1"`) {
		t.Errorf("the copy has %s", page)
	}
}
