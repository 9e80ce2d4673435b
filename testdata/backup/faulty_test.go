package backup

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// history records the writes to a primary. Each write has a higher value than all earlier writes.
type history struct {
	mu   sync.Mutex
	next int
	sent map[string]int // last value that was sent, by row key
	acks []ack          // confirmed writes, in the order of their replies
	last time.Time      // time of the reply to the last write
	took time.Duration  // duration of the slowest write
	seen map[string]int // value that a server must have at least, by row key
}

// ack is a confirmed write, and the time of its reply.
type ack struct {
	row   string
	value int
	at    time.Time
}

// write starts four writers, each of which writes n entities. A writer stops early when the primary is
// killed.
func (h *history) write(t *testing.T, to *server, n int) {
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for range n {
				h.mu.Lock()
				h.next++
				value := h.next
				row := fmt.Sprintf("%d-%d", w, value%5)
				h.sent[row] = value
				h.mu.Unlock()
				sent := time.Now()
				status, answer, err := to.try(t, "PUT", to.endpoint+fmt.Sprintf("/people(PartitionKey='p',RowKey='%s')", row), fmt.Sprintf(`{"Value":%d}`, value))
				if err != nil {
					return // the reply was lost, so the entity may have been written
				}
				if status != http.StatusNoContent {
					t.Errorf("PUT: status %d, %s", status, answer)
					return
				}
				h.mu.Lock()
				h.last = time.Now()
				h.took = max(h.took, h.last.Sub(sent))
				h.acks = append(h.acks, ack{row, value, h.last})
				h.mu.Unlock()
			}
		})
	}
	writers.Wait()
}

// check compares values that were read from a server with the history. It fails the test if a value was never
// sent. It also fails the test if a write is missing that was confirmed before the given time. It returns the
// number of writes that it checked.
func (h *history) check(t *testing.T, where string, got map[string]int, until time.Time) (looked int) {
	t.Helper()
	for ; len(h.acks) > 0 && h.acks[0].at.Before(until); h.acks = h.acks[1:] {
		looked++
		h.seen[h.acks[0].row] = max(h.seen[h.acks[0].row], h.acks[0].value)
	}
	for row, want := range h.seen {
		if got[row] < want || got[row] > h.sent[row] {
			t.Fatalf("%s has the value %d of %s; the write of %d had returned before %v, and the last was of %d", where, got[row], row, want, until, h.sent[row])
		}
	}
	return looked
}

// values reads the values of all entities at an endpoint, by row key.
func (s *server) values(t *testing.T, endpoint string) map[string]int {
	t.Helper()
	status, answer, err := s.try(t, "GET", endpoint+"/people()", "")
	var page struct {
		Value []struct {
			RowKey string
			Value  int
		}
	}
	if err == nil {
		err = json.Unmarshal([]byte(answer), &page)
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("query: status %d, %v, %s", status, err, answer)
	}
	values := map[string]int{}
	for _, e := range page.Value {
		values[e.RowKey] = e.Value
	}
	return values
}

// storms chooses the requests that fail. Each seed of the test has its own prefix of object names:
// the text before the first slash. These prefixes are the keys of the maps.
type storms struct {
	dice   dice
	mu     sync.Mutex
	rough  map[string]bool // whether some requests for these objects fail at random
	outage map[string]int  // how many of the next requests for these objects fail
	counts map[fault]int
}

func (s *storms) next(r *http.Request) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimPrefix(r.URL.Path, "/bucket/")
	if listed := r.URL.Query().Get("prefix"); listed != "" {
		name = listed
	}
	place, _, _ := strings.Cut(name, "/")
	f := none
	switch {
	case s.outage[place] > 0:
		s.outage[place]--
		f = refused
	case s.rough[place] && s.dice.intN(60) == 0: // rare, because the client's retries after these faults are slow
		f = unserved + fault(s.dice.intN(int(halfAnswer)))
	case s.rough[place] && s.dice.intN(8) == 0:
		f = refused + fault(s.dice.intN(int(again-refused)+1))
	}
	s.counts[f]++
	return f
}

func (s *storms) set(place string, rough bool, outage int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rough[place], s.outage[place] = rough, outage
}

// TestFaultyPlace proves that a secondary has every write that was confirmed before its LastSyncTime. The
// primary and the secondary exchange data through a bucket. The test loses, delays, repeats and reorders the
// requests to the bucket, and kills both servers. After the secondary is promoted, delayed requests of the
// old primary must change nothing. EDGETABLE_SEEDS=500 make faulty-place runs more seeds.
func TestFaultyPlace(t *testing.T) {
	t.Parallel()
	seeds := 6
	if text := os.Getenv("EDGETABLE_SEEDS"); text != "" {
		var err error
		if seeds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	g, s := startGateway(t), &storms{rough: map[string]bool{}, outage: map[string]int{}, counts: map[fault]int{}}
	g.set(s.next, nil)
	looked, kills := make([]int, seeds), make([]int, seeds)
	t.Run("seeds", func(t *testing.T) {
		for seed := range seeds {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				looked[seed], kills[seed] = weather(t, g, s, uint64(seed))
			})
		}
	})
	total := [2]int{}
	for i := range looked {
		total[0], total[1] = total[0]+looked[i], total[1]+kills[i]
	}
	t.Logf("requests by fault: %v; %d kills; looked for %d writes", s.counts, total[1], total[0])
	for f := refused; f <= again; f++ {
		if s.counts[f] == 0 {
			t.Errorf("no request was met by fault %d", f)
		}
	}
}

// weather runs the test TestFaultyPlace for one seed.
func weather(t *testing.T, g *gateway, s *storms, seed uint64) (looked, kills int) {
	random := rand.New(rand.NewPCG(seed, 32))
	name := fmt.Sprint("seed", seed)
	place, dir := strings.Replace(g.URL, "some/prefix", name, 1), t.TempDir()
	dirs := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}
	first := []string{"--backup-to", place, "--backup-log", "20ms", "--backup-every", "2s"}
	second := []string{"--secondary-of", place, "--secondary-max-lag", "3s", "--backup-to", place, "--backup-log", "20ms"}
	one := start(t, dirs[0], first...)
	if status := one.do(t, "POST", "/Tables", `{"TableName":"people"}`); status != http.StatusCreated {
		t.Fatalf("create table: status %d", status)
	}
	two := start(t, dirs[1], second...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the primary says:\n%s\nthe secondary:\n%s", one.said(), two.said())
		}
	})
	h := &history{sent: map[string]int{}, seen: map[string]int{}}
	check := func() {
		t.Helper()
		last := two.lastSync(t)
		if last.IsZero() {
			return // the secondary is still building its store
		}
		looked += h.check(t, "the secondary", two.values(t, two.endpoint+"-secondary"), last)
	}
	for range 12 {
		s.set(name, true, 0)
		switch random.IntN(6) {
		case 0:
			kills++
			kill(one)
			one = start(t, dirs[0], first...)
		case 1:
			kills++
			kill(two)
			s.set(name, false, 0) // no faults now, because a server only starts if the bucket responds
			two = start(t, dirs[1], second...)
		case 2:
			s.set(name, true, 10+random.IntN(60))
			h.write(t, one, 1+random.IntN(50))
		default:
			h.write(t, one, 1+random.IntN(50))
		}
		check()
	}
	s.set(name, false, 0)
	shown := time.Time{}
	defer func() {
		t.Logf("the last write returned at %v, and the slowest one after %v; LastSyncTime was %v", h.last, h.took, shown)
	}()
	eventually(t, "LastSyncTime passes the last write", func() bool { shown = two.lastSync(t); return shown.After(h.last) })
	check()
	if len(h.acks) > 0 {
		t.Errorf("for %d writes nobody has looked", len(h.acks))
	}

	before := one.values(t, one.endpoint)
	eventually(t, "the secondary has everything", func() bool { return fmt.Sprint(two.values(t, two.endpoint+"-secondary")) == fmt.Sprint(before) })
	succeed(t, "promote", dirs[1])
	h.write(t, one, 3) // writes that the old primary may still confirm, but that the promoted server must not contain
	g.arrive(1 << 20)
	eventually(t, "the old primary is told", func() bool { return one.logged("another store has taken over the backup location") })
	h.write(t, two, 10)
	eventually(t, "the log of the promoted one continues a backup", func() bool { return two.logged("msg=backup") })
	after := two.values(t, two.endpoint)
	two.stop(t)
	kill(one)
	g.arrive(1 << 20)
	if out := succeed(t, "backup", "verify", place); !strings.Contains(out, "can be restored") {
		t.Errorf("verify: %s", out)
	}
	restored := filepath.Join(dir, "restored")
	succeed(t, "backup", "restore", place, restored)
	three := start(t, restored)
	if got := three.values(t, three.endpoint); fmt.Sprint(got) != fmt.Sprint(after) {
		t.Errorf("restored are %v, want %v", got, after)
	}
	three.stop(t)
	return looked, kills
}
