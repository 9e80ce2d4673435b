package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
	"edgetable/core/objects"
	"edgetable/testdata/must"
)

// history records the writes to a primary. Each write of an entity has a higher number than the
// previous write.
type history struct {
	mu   sync.Mutex
	next int
	sent map[string]int   // for each RowKey, the number of the last write that was sent
	acks map[string][]ack // for each RowKey, the confirmed writes in the order of their responses

	returned, awaited int           // returned: number of confirmed writes; awaited: number for which a test waits
	reached           chan struct{} // closed when the awaited number of writes is confirmed; nil if no test waits
}

func (h *history) after(t *testing.T, writes int, p *process) {
	t.Helper()
	h.mu.Lock()
	reached := make(chan struct{})
	h.awaited, h.reached = h.returned+writes+1, reached
	h.mu.Unlock()
	must.Receive(t, fmt.Sprintf("%d more writes return", writes+1), reached, p.logs)
}

// ack is a confirmed write with the time of its response.
type ack struct {
	number   int
	returned time.Time
}

// write sends the writes of one writer, until the server is killed.
func (h *history) write(t *testing.T, c *signingClient, writer int) {
	for {
		h.mu.Lock()
		h.next++
		number, row := h.next, fmt.Sprintf("%d-%d", writer, h.next%20)
		h.sent[row] = number
		h.mu.Unlock()
		resp, err := c.Do(c.request(t, "PUT", fmt.Sprintf("/people(PartitionKey='p',RowKey='%s')", row), fmt.Sprintf(`{"Name":"%d"}`, number)))
		if err != nil {
			return // the response was lost, so it is unknown whether the entity was written
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusNoContent {
			t.Errorf("writer %d: status %d", writer, resp.StatusCode)
			return
		}
		h.mu.Lock()
		h.acks[row] = append(h.acks[row], ack{number, time.Now()})
		if h.returned++; h.reached != nil && h.returned >= h.awaited {
			close(h.reached)
			h.reached = nil
		}
		h.mu.Unlock()
	}
}

// check compares entities with the history. The entities must have every write that was confirmed
// before the given time, and no write that was never sent. check returns the number of compared
// writes.
func (h *history) check(t *testing.T, where string, got map[string]string, until time.Time) (looked int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for row, list := range h.acks {
		want := 0
		for _, a := range list {
			if a.returned.Before(until) {
				want = a.number
				looked++
			}
		}
		if n, _ := strconv.Atoi(got[row]); n < want || n > h.sent[row] {
			t.Errorf("%s at %v: entity %s is of write %d; write %d had returned, and write %d was the last", where, until, row, n, want, h.sent[row])
		}
	}
	return looked
}

// names returns one page of entities in the table people: the Name for each RowKey.
func (c *signingClient) names(t *testing.T) map[string]string {
	t.Helper()
	var page struct {
		Value []struct{ RowKey, Name string }
	}
	must.OK(t, json.Unmarshal([]byte(c.do(t, "GET", "/people()", "", 200)), &page))
	all := map[string]string{}
	for _, e := range page.Value {
		all[e.RowKey] = e.Name
	}
	return all
}

// positionOf reads the data directory of a secondary. It returns the position in the primary's log
// that the secondary has reached.
func positionOf(t *testing.T, dir string) commitlog.Position {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir, KeepLogs: -1})
	must.OK(t, err)
	defer s.Close()
	p, follows, err := s.Position()
	if err != nil || !follows {
		t.Fatalf("%s is of no secondary: %v", dir, err)
	}
	return p
}

// kill ends a process with SIGKILL.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	_ = p.Wait() // the error is ignored, because it only says that the process was killed
}

func uploading(t *testing.T, place string) {
	t.Helper()
	must.Eventually(t, "an object of the log is being written", seen(func() string { return place }), func() bool {
		found, err := filepath.Glob(filepath.Join(place, "log", "*", "*", "*"+objects.TempSuffix))
		must.OK(t, err)
		return len(found) > 0
	})
}

type seen func() string

func (s seen) String() string { return s() }

// awaitLive waits until the statistics of a secondary have the status live. It returns the entities
// and the LastSyncTime. If the secondary has built a new store, it has another address.
func (p *process) awaitLive(t *testing.T, place string) (names map[string]string, last time.Time) {
	t.Helper()
	status := ""
	why := seen(func() string {
		text := fmt.Sprintf("the last status is %q, LastSyncTime %v; the place has %d pieces\n", status, last, pieces(place))
		for name, family := range p.scrape(t, "") {
			if strings.Contains(name, "_secondary") || strings.Contains(name, "_log_") {
				text += fmt.Sprintln(name, family.Metric)
			}
		}
		return text + p.logs.String()
	})
	must.Eventually(t, "the secondary is live", why, func() bool {
		if greetings := strings.Split(p.logs.String(), "\nready\n"); len(greetings) > 1 {
			p.greeting = greetings[len(greetings)-2]
		}
		d := p.secondary(t)
		resp, err := d.Do(d.request(t, "GET", "/Tables", ""))
		if err != nil {
			return false // the secondary is switching to a new store
		}
		resp.Body.Close()
		status, last = d.stats(t)
		return status == "live"
	})
	return p.secondary(t).names(t), last
}

// killedPromotion promotes a stopped secondary. Up to three times, it kills the command and starts
// the command again.
func killedPromotion(t *testing.T, rnd *rand.Rand, dir, place string) (kills int) {
	t.Helper()
	self, err := os.Executable()
	must.OK(t, err)
	for range 3 {
		c := exec.Command(self, "promote", dir, "--place", place)
		c.Env = []string{mainVariable + "=1"}
		must.OK(t, c.Start())
		<-time.After(time.Duration(rnd.Int64N(int64(150 * time.Millisecond)))) // kill the command at a random moment
		_ = c.Process.Kill()                                                   // the error is ignored, because the command may already have ended
		if c.Wait() == nil {
			return kills
		}
		kills++
	}
	if status, _, said := runUntil(t.Context(), nil, "promote", dir, "--place", place); status != 0 {
		if !strings.Contains(said, "is a primary already") { // a killed command has already completed the promotion
			t.Errorf("promote: status %d, %s", status, said)
		}
	}
	return kills
}

// TestSecondaryKilled checks that a secondary has every write that was confirmed before its LastSyncTime. Under load,
// it kills primaries at random moments and during uploads. It also kills secondaries. When the primary is dead, the
// promoted secondary must have all writes in the backup location. For more kills:
//
//	make secondary-kills KILLS=500
//
// EDGETABLE_KILL_SEED repeats the random choices of a run that failed.
func TestSecondaryKilled(t *testing.T) {
	t.Parallel()
	points, seed := int(numberFrom(t, "EDGETABLE_KILLS", 8)), numberFrom(t, "EDGETABLE_KILL_SEED", 1)
	t.Logf("EDGETABLE_KILL_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	var primaries, uploads, secondaries, promotions, looked int
	for life := 0; primaries+uploads+secondaries+promotions < points && !t.Failed(); life++ {
		p := newPair(t)
		dir := filepath.Join(p.dir, "secondary")
		h := &history{sent: map[string]int{}, acks: map[string][]ack{}}
		one := startProcess(t, nil, p.primary...)
		one.client(t, "").do(t, "POST", "/Tables", `{"TableName":"people"}`, 204)
		two := startProcess(t, nil, p.secondary...)
		var writers sync.WaitGroup
		load := func() {
			for w := range 4 {
				c := one.client(t, "")
				writers.Go(func() { h.write(t, c, w) })
			}
		}
		load()
		for range 4 {
			h.after(t, rnd.IntN(600), one) // kill after a random number of writes
			if what := rnd.IntN(4); what < 2 {
				if what == 0 {
					uploading(t, p.place)
					uploads++
				} else {
					primaries++
				}
				one.kill(t)
				writers.Wait()
				one = startProcess(t, nil, p.primary...)
				load()
				continue
			}
			secondaries++
			two.kill(t)
			if !follow.Rebuilding(dir) {
				at := positionOf(t, dir)
				looked += h.check(t, "the killed secondary", readPeople(t, dir), at.Synced.Time())
			}
			two = startProcess(t, nil, p.secondary...)
		}
		names, last := two.awaitLive(t, p.place)
		looked += h.check(t, "the secondary", names, last)

		primaries++
		one.kill(t)
		writers.Wait()
		shipped := filepath.Join(p.dir, "shipped")
		succeed(t, "backup", "restore", p.place, shipped)
		if life%2 == 0 {
			said := new(strings.Builder)
			must.Eventually(t, "the secondary is promoted", said, func() bool { // the secondary may still be building a new store
				said.Reset()
				status, _, text := runUntil(t.Context(), nil, "promote", dir)
				said.WriteString(text)
				return status == 0 || strings.Contains(text, "is a primary already")
			})
			two.awaitLive(t, p.place)
		} else {
			secondaries++
			two.kill(t)
			promotions += killedPromotion(t, rnd, dir, p.place)
			two = startProcess(t, nil, p.secondary...)
		}
		got := two.client(t, "").names(t)
		if want := readPeople(t, shipped); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the promoted secondary has %v; shipped was %v", got, want)
		}
		h.check(t, "the promoted secondary", got, last)
		two.client(t, "").do(t, "PUT", "/people(PartitionKey='p',RowKey='new')", `{"Name":"0"}`, 204)
		two.kill(t)
	}
	t.Logf("killed: %d primaries, %d more while they shipped, %d secondaries, %d promotions; looked for %d writes", primaries, uploads, secondaries, promotions, looked)
	if looked == 0 {
		t.Error("no write was looked for")
	}
}
