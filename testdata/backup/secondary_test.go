package backup

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// lives holds a primary and a secondary, which the test kills and starts again. It also holds the rows that were
// written to the primary.
type lives struct {
	t        *testing.T
	g        *gateway
	one, two *server
	first    []string // command-line arguments of the primary
	second   []string
	dirs     [2]string
	rows     int
	returned []acked // confirmed rows, in the order of their replies
	looked   int
}

// acked is a row whose write was confirmed, and the time of the reply.
type acked struct {
	row int
	at  time.Time
}

func newLives(t *testing.T) *lives {
	g, dir := startGateway(t), t.TempDir()
	l := &lives{
		t: t, g: g, dirs: [2]string{filepath.Join(dir, "one"), filepath.Join(dir, "two")},
		first:  []string{"--backup-to", g.URL, "--backup-log", "20ms"},
		second: []string{"--secondary-of", g.URL, "--secondary-max-lag", "3s"},
	}
	l.startOne()
	if status := l.one.do(t, "POST", "/Tables", `{"TableName":"people"}`); status != 201 {
		t.Fatalf("create table: status %d", status)
	}
	l.startTwo()
	return l
}

func (l *lives) startOne() { l.one = start(l.t, l.dirs[0], l.first...) }
func (l *lives) startTwo() { l.two = start(l.t, l.dirs[1], l.second...) }

// write writes n rows, or fewer if the primary is killed. It reports whether the primary is still running.
func (l *lives) write(n int) (alive bool) {
	for range n {
		row := l.rows
		l.rows++
		status, answer, err := l.one.try(l.t, "PUT", l.one.endpoint+address(row), `{"Name":"x"}`)
		if err != nil {
			return false
		}
		if status != http.StatusNoContent {
			l.t.Fatalf("PUT: status %d, %s", status, answer)
		}
		l.returned = append(l.returned, acked{row, time.Now()})
	}
	return true
}

func address(row int) string { return fmt.Sprintf("/people(PartitionKey='p',RowKey='%d')", row) }

// kill ends a server with SIGKILL.
func kill(s *server) {
	_ = s.Process.Kill()
	_ = s.Wait() // the error is ignored, because it only says that the process was killed
}

// lastSync asks the secondary for its LastSyncTime.
func (s *server) lastSync(t *testing.T) (at time.Time) {
	t.Helper()
	status, answer, err := s.try(t, "GET", s.endpoint+"-secondary/?restype=service&comp=stats", "")
	if err != nil { // The secondary closes all connections when it has built its store, so repeat the request once.
		status, answer, err = s.try(t, "GET", s.endpoint+"-secondary/?restype=service&comp=stats", "")
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("stats: status %d, %v, %s", status, err, answer)
	}
	_, after, _ := strings.Cut(answer, "<LastSyncTime>")
	text, _, _ := strings.Cut(after, "</LastSyncTime>")
	at, _ = time.Parse(http.TimeFormat, text) // during the start there is no LastSyncTime; Parse then fails and returns the zero time
	return at
}

// check fails the test unless the secondary has each row that was confirmed before its LastSyncTime. After it has
// found a row, later calls do not look for this row again.
func (l *lives) check() {
	for at := l.two.lastSync(l.t); len(l.returned) > 0 && l.returned[0].at.Before(at); l.returned = l.returned[1:] {
		l.looked++
		if !l.two.has(l.t, l.returned[0].row) {
			l.t.Fatalf("LastSyncTime is %v, but row %d, which was written at %v, is not there", at, l.returned[0].row, l.returned[0].at)
		}
	}
}

// killUpload kills the primary before or after its n-th write to the bucket, counted from now.
func (l *lives) killUpload(f fault, n int64) {
	one := l.one
	var writes atomic.Int64
	l.g.set(func(r *http.Request) fault {
		switch {
		case r.Method != http.MethodPut:
			return none
		case writes.Add(1) == n:
			return f
		}
		return none
	}, func() { _ = one.Process.Kill() })
	for l.write(1) {
	}
	_ = one.Wait() // the error is ignored, because it only says that the process was killed
	l.g.set(noFault, nil)
}

// TestSecondaryKilled proves that a secondary has every write that was confirmed before its LastSyncTime. Primaries
// and secondaries are killed under load, also while they upload the log to an S3 server, and other requests to the
// S3 server fail. In the end the secondary is promoted. EDGETABLE_KILLS=250 make backup-s3 kills more often.
func TestSecondaryKilled(t *testing.T) {
	t.Parallel()
	kills := 9
	if text := os.Getenv("EDGETABLE_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	l := newLives(t)
	var primaries, secondaries, uploads int
	for n := range kills {
		switch n % 3 {
		case 0:
			uploads++
			l.killUpload([]fault{killBefore, killAfter}[l.g.intN(2)], 1+int64(l.g.intN(4)))
			l.startOne()
		case 1:
			primaries++
			l.g.set(func(*http.Request) fault {
				if l.g.intN(5) > 0 {
					return none
				}
				return unserved + fault(l.g.intN(int(halfAnswer)))
			}, nil)
			l.write(1 + l.g.intN(100))
			kill(l.one)
			l.g.set(noFault, nil)
			l.startOne()
		default:
			secondaries++
			l.write(1 + l.g.intN(100))
			kill(l.two)
			l.startTwo()
		}
		l.check()
	}
	l.write(10)
	end := l.rows - 1
	eventually(t, "the secondary has the last row", func() bool { return l.two.has(t, end) })
	kill(l.one)
	l.check()
	succeed(t, "promote", l.dirs[1])
	for _, a := range l.returned {
		l.looked++
		if !l.two.has(t, a.row) {
			t.Errorf("row %d is not in the promoted secondary", a.row)
		}
	}
	if status := l.two.do(t, "PUT", address(l.rows), `{"Name":"x"}`); status != http.StatusNoContent {
		t.Errorf("the promoted secondary answers a write with %d", status)
	}
	if out := succeed(t, "backup", "verify", l.g.URL); !strings.Contains(out, "can be restored") {
		t.Errorf("verify: %s", out)
	}
	t.Logf("killed: %d uploads, %d primaries, %d secondaries; looked for %d of %d writes", uploads, primaries+1, secondaries, l.looked, l.rows)
}
