package secondary_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"filippo.io/age"

	"edgetable/adapters/replicate/ship"
	"edgetable/core/table"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/must"
)

var (
	scenarios     = flag.Int("scenarios", 15, "how many sequences of TestScenarios to play")
	firstScenario = flag.Uint64("scenario", 0, "the first of them")
)

// scenario is a test with a backup location and machines that use it. It records every acknowledged write.
type scenario struct {
	t      *testing.T
	rand   *rand.Rand
	dir    string
	place  string
	other  string // a backup location with the backups and the log of another store
	copies int

	identities string   // name of a file with the private keys
	public     []string // public keys
	keys       []string // flags that encrypt the backups and the log of the primary

	machines []*machine
	leader   *machine // the machine that most recently became the primary
	table    bool

	next                int
	when                map[int]time.Time // time of the acknowledgment, by number of the write
	line                numbers           // set of the writes that the current primary must have
	floor               numbers           // set of the writes that the backup location must have
	history             []string
	promotions, settled int
}

func (w *scenario) note(format string, args ...any) {
	w.history = append(w.history, time.Now().Format("04:05.000 ")+fmt.Sprintf(format, args...))
}

// fail stops the test with a message, and prints all steps of the scenario.
func (w *scenario) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.history, "\n"))
}

func newScenario(t *testing.T, seed uint64, dir, other string) *scenario {
	w := &scenario{
		t: t, rand: rand.New(rand.NewPCG(seed, 42)), dir: dir, place: filepath.Join(dir, "place"), other: other,
		when: map[int]time.Time{}, line: numbers{}, floor: numbers{},
	}
	text := ""
	for range 2 {
		k, err := age.GenerateX25519Identity()
		must.OK(t, err)
		text += k.String() + "\n"
		w.public = append(w.public, k.Recipient().String())
	}
	must.OK(t, os.MkdirAll(dir, 0o700))
	w.identities = filepath.Join(dir, "keys.txt")
	must.OK(t, os.WriteFile(w.identities, []byte(text), 0o600))
	for _, name := range []string{"A", "B", "C"} {
		w.machines = append(w.machines, &machine{w: w, name: name, dir: filepath.Join(dir, name), follows: name != "A"})
	}
	w.leader = w.machines[0]
	return w
}

// TestScenarios plays random sequences of operators' commands and of failures of machines. After each step, it checks the data
// of each server that reports that it is live or ready. If a command ends without an error, its result is checked. The writes
// of the store that was promoted last must never be lost. To play more sequences:
//
//	make secondary-kills SCENARIOS=1000
func TestScenarios(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		*scenarios = min(*scenarios, 3)
	}
	dir := fast(t)
	other := filepath.Join(dir, "other")
	synctest.Test(t, func(t *testing.T) { otherPlace(t, dir, other) })
	promotions, settled := 0, 0
	for seed := *firstScenario; seed < *firstScenario+uint64(*scenarios) && !t.Failed(); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newScenario(t, seed, filepath.Join(dir, fmt.Sprint(seed)), other)
				defer func() {
					for _, m := range w.machines {
						m.close()
					}
					must.OK(t, os.RemoveAll(w.dir))
				}()
				w.play()
				promotions += w.promotions
				settled += w.settled
			})
		})
	}
	t.Logf("%d promotions, %d looks at a settled place", promotions, settled)
	if *scenarios >= 15 && promotions < *scenarios/2 {
		t.Errorf("%d promotions", promotions)
	}
}

// fast returns a temporary directory, on a tmpfs if there is one.
func fast(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "edgetable-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// otherPlace makes a backup location with the backups and the log of another store.
func otherPlace(t *testing.T, dir, other string) {
	w := newScenario(t, 0, filepath.Join(dir, "x"), "")
	w.place = other
	must.OK(t, w.leader.start(false))
	time.Sleep(5 * time.Second)
	w.leader.stop()
}

func (w *scenario) play() {
	a := w.machines[0]
	must.OK(w.t, a.start(false))
	w.write()
	for _, m := range w.machines[1:] {
		must.OK(w.t, m.start(false))
	}
	w.settle()
	for range 12 + w.rand.IntN(8) {
		w.step()
		w.pass(time.Duration(1+w.rand.IntN(3)) * time.Second)
		w.judge()
		if w.rand.IntN(4) == 0 {
			w.settle()
		}
	}
	w.settle()
}

// pass lets the time d pass. If a server has ended because it built a new store, pass starts the server again.
func (w *scenario) pass(d time.Duration) {
	for range 2 {
		time.Sleep(d / 2)
		synctest.Wait()
		for _, m := range w.machines {
			if m.ctx != nil && m.ctx.Err() != nil {
				m.close()
				if err := m.start(false); err != nil {
					w.fail("%s does not start with the store that it has built: %v", m, err)
				}
			}
		}
		synctest.Wait() // wait until the restarted servers have checked the backup location
	}
}

// here reports whether the backup location is at its usual path. The method displace moves the location away, and
// may put the location of another store at this path.
func (w *scenario) here() bool {
	_, err := os.Stat(w.place + ".away")
	return err != nil
}

// write writes some entities to each server that accepts writes. It records the writes of the leader.
func (w *scenario) write() {
	for _, m := range w.machines {
		if !m.leads() {
			continue
		}
		if !w.table {
			w.table = true
			service := table.New(m.store, table.Options{Now: stores.Now, Rand: w.rand.Uint64})
			must.OK(w.t, service.CreateTable(m.ctx, people))
		}
		for range 1 + w.rand.IntN(4) {
			w.next++
			if err := m.write(w.next); err != nil {
				w.fail("%s refuses a write: %v", m, err)
			}
			w.when[w.next] = time.Now()
			if m == w.leader {
				w.line[w.next] = true
			}
		}
		w.note("%s has writes up to %d", m, w.next)
	}
}

// lead makes a promoted machine the leader, which is the newest primary. The second argument is the set of the entities in the
// machine's store.
func (w *scenario) lead(m *machine, has numbers) {
	w.leader, w.line = m, has
	w.promotions++
}

// step does one randomly chosen thing.
func (w *scenario) step() {
	m := w.machines[w.rand.IntN(len(w.machines))]
	running := m.ctx != nil
	switch what := w.rand.IntN(20); {
	case what < 4:
		w.write()
	case what < 6 && running:
		w.note("%s is killed", m)
		m.kill()
	case what == 6 && running:
		w.note("%s stops", m)
		m.stop()
	case what < 9 && !running && (w.here() || !m.copied):
		w.start(m, false)
	case what == 9 && !running && m != w.leader:
		w.damage(m)
	case what < 12 && m.follower.IsFollowing() && running, what == 12 && m.follows && !running:
		w.promote(m)
	case what == 13 && !running:
		w.backUp(m)
	case what == 14:
		w.prune()
	case what == 15 && m == w.leader:
		w.note("the key changes")
		w.keys = []string{"--backup-encrypt-to", w.public[w.rand.IntN(2)]}
		if running {
			m.stop()
		}
		w.start(m, false)
	case what == 16:
		w.displace()
	case what == 17 && !w.here(): // not now: without the backup location, a server cannot find out that it runs on a copied data directory
	case what == 17 && len(w.machines) < 5 && w.leader.store != nil:
		if w.rand.IntN(2) == 0 {
			w.note("%s stops", w.leader)
			w.leader.stop()
		}
		w.clone(w.leader)
	case what == 17 && len(w.machines) < 5 && !m.follower.IsFollowing():
		w.clone(m)
	case what == 18:
		step := time.Duration(w.rand.IntN(1200)-600) * time.Second
		w.note("the clock of %s steps by %v", m, step)
		m.ahead.Store(int64(step))
	case what == 19 && m != w.leader && w.rand.IntN(2) == 0:
		w.takeOver(m)
	case what == 19 && m != w.leader && w.here(): // not now: with another location at the usual path, the machine would copy the wrong store
		if running {
			m.stop()
		}
		w.note("%s is emptied, and follows", m)
		must.OK(w.t, os.RemoveAll(m.dir))
		m.follows, m.gap = true, false
		w.start(m, false)
	default:
		w.write()
	}
}

// start starts the server of a machine. If the machine is the leader, it must start and accept writes.
func (w *scenario) start(m *machine, accept bool) {
	err := m.start(accept)
	w.note("%s starts: %v", m, err)
	if err != nil {
		if m == w.leader && w.here() {
			w.fail("the primary %s does not start: %v", m, err)
		}
		return
	}
	if w.here() && m == w.leader && !m.leads() {
		w.fail("the primary %s takes no writes after its start", m)
	}
}

// damage corrupts the log of a stopped machine, or removes the record of the machine's history. Then it starts the server. If
// the start fails, damage follows the advice in the error.
func (w *scenario) damage(m *machine) {
	m.gap = true
	if w.rand.IntN(2) == 0 {
		w.note("%s loses TIMELINE", m)
		_ = os.Remove(filepath.Join(m.dir, "TIMELINE")) // the error is ignored, because a secondary has no such file
		w.start(m, false)
		return
	}
	logs, err := filepath.Glob(filepath.Join(m.dir, "*.log"))
	must.OK(w.t, err)
	slices.Sort(logs)
	for _, name := range slices.Backward(logs) {
		b, err := os.ReadFile(name)
		must.OK(w.t, err)
		if len(b) < 100 {
			continue
		}
		b[w.rand.IntN(len(b))] ^= 0x55
		w.note("%s is damaged", filepath.Base(name))
		must.OK(w.t, os.WriteFile(name, b, 0o600))
		break
	}
	w.start(m, false)
	if m.ctx == nil {
		w.start(m, true)
	}
	if m.ctx == nil && m.follows { // empty the directory, as the error of a failed start tells the operator
		must.OK(w.t, os.RemoveAll(m.dir))
		w.start(m, false)
	}
}

// promote promotes a secondary. The promoted store must have all writes in the field floor: those that the backup
// location must have.
func (w *scenario) promote(m *machine) {
	var err error
	switch {
	case m.ctx != nil && m.store == nil:
		return // the machine is building its first store
	case m.ctx != nil:
		_, err = m.follower.Promote(m.ctx, false, 1<<30)
		m.backups.Resume()
	default:
		_, err = command("promote", m.dir, "--place", w.place, "--secondary-identity", w.identities)
	}
	w.note("promote %s: %v", m, err)
	if err != nil {
		return
	}
	has := m.has()
	if lacks := has.lacks(w.floor); len(lacks) > 0 {
		w.fail("%s was promoted without %v, which the place has", m, lacks)
	}
	w.lead(m, has)
}

// takeOver makes a replaced store the primary again, with 'edgetable promote --take-over'.
func (w *scenario) takeOver(m *machine) {
	var err error
	switch {
	case m.ctx == nil:
		_, err = command("promote", m.dir, "--place", w.place, "--take-over")
	case m.store == nil || m.follower.IsFollowing() || m.well():
		return
	default:
		if err = ship.TakeOver(m.ctx, m.backups.Place(), m.store, m.dir); err == nil {
			m.embedded.Primary.Regain()
			m.backups.Resume()
		}
	}
	w.note("promote %s --take-over: %v", m, err)
	m.gap = true // a replaced store does not keep log files, so its shipped log may have a gap
	if err != nil {
		return
	}
	w.floor = numbers{}
	w.lead(m, m.has())
}

// backUp makes a backup of a stopped machine with 'edgetable backup create'. If the machine is the leader (the newest primary),
// the backup must have all writes of the leader. On all other machines, the command must fail.
func (w *scenario) backUp(m *machine) {
	_, err := command(append([]string{"backup", "create", w.place, "--data", m.dir}, w.encrypt()...)...)
	w.note("backup create of %s: %v", m, err)
	switch {
	case err != nil:
	case m.copied && m != w.leader: // m is a copy that never ran, so it cannot know that the primary has later writes
		w.restore(true)
	case m != w.leader:
		w.fail("%s, which is not the primary, has made a backup", m)
	default:
		w.floor = maps.Clone(w.line)
		w.restore(true)
	}
}

func (w *scenario) encrypt() []string {
	if len(w.keys) == 0 {
		return nil
	}
	return []string{"--encrypt-to", w.keys[1]}
}

// restore restores the newest state. The restored store must have all writes in the field floor: those that the backup
// location must have.
func (w *scenario) restore(must bool) (has numbers, ok bool) {
	to := filepath.Join(w.dir, "restored")
	defer os.RemoveAll(to)
	said, err := command("backup", "restore", w.place, to, "--identity", w.identities)
	if err != nil {
		w.note("restore: %s", said)
		if must {
			w.fail("the newest state cannot be restored: %v", err)
		}
		return nil, false
	}
	has = readDirectory(w.t, to)
	if lacks := has.lacks(w.floor); len(lacks) > 0 {
		w.fail("a restore of the newest state lacks %v: %s", lacks, said)
	}
	return has, true
}

// prune removes old backups. The newest state in the backup location must keep all its writes.
func (w *scenario) prune() {
	if !w.here() {
		return
	}
	before, ok := w.restore(false)
	said, err := command("backup", "prune", w.place, "--keep-last", "1")
	w.note("prune: %v", err)
	if err != nil || !ok {
		return
	}
	after, _ := w.restore(true)
	if lacks := after.lacks(before); len(lacks) > 0 {
		w.fail("after a prune %v cannot be restored: %s", lacks, said)
	}
}

// displace makes the backup location unreachable, or puts the location of another store at the usual path. If the location is
// already displaced, displace brings it back.
func (w *scenario) displace() {
	away := w.place + ".away"
	if !w.here() {
		w.note("the place is back")
		must.OK(w.t, os.RemoveAll(w.place))
		must.OK(w.t, os.Rename(away, w.place))
		return
	}
	must.OK(w.t, os.Rename(w.place, away))
	if w.rand.IntN(2) == 0 {
		w.note("the place is away")
		must.OK(w.t, os.WriteFile(w.place, nil, 0o600))
		return
	}
	w.note("the place of another store is mounted")
	must.OK(w.t, os.CopyFS(w.place, os.DirFS(w.other)))
}

// clone copies the data directory of a machine, as a snapshot of a volume does. If the machine is the leader, its server is
// started, and may write more before the server of the copy starts.
func (w *scenario) clone(m *machine) {
	if m.store == nil && m.ctx != nil {
		return
	}
	c := &machine{w: w, name: m.name + fmt.Sprint(len(w.machines)), dir: m.copyOf(), follows: m.follows, copied: true, gap: true}
	w.note("%s is a copy of %s", c, m)
	running := m.ctx != nil
	if m == w.leader && !running {
		w.start(m, false)
		w.pass(time.Second) // in one second, the server ships no piece of the log: its first pause before an empty commit is two seconds
	}
	if m == w.leader && (running || w.rand.IntN(2) == 0) { // write more, so that the copied data directory is older than that of the primary
		w.write()
		w.pass(3 * time.Second)
	}
	w.machines = append(w.machines, c)
	if m == w.leader && !running {
		w.start(c, false)
	}
}

// judge checks the reports of all servers. It does nothing while the leader (the newest primary) is stopped or the backup
// location is unreachable. At such a time, the other servers cannot find out that their data is old.
func (w *scenario) judge() {
	if !w.here() || w.leader.ctx == nil {
		return
	}
	w.pass(14 * time.Second) // a server without writes checks the location every ten seconds, and needs two checks to find out that it was replaced
	for _, m := range w.machines {
		if m.store == nil {
			continue
		}
		if m.well() && m != w.leader {
			w.fail("%s is ready as a primary next to %s", m, w.leader)
		}
		if m == w.leader && !m.well() {
			w.fail("the primary %s was replaced: %v", m, m.embedded.Primary.Err())
		}
		if !m.follower.IsFollowing() {
			continue
		}
		r, has := m.follower.Replication(), m.has()
		ready := m.follower.Ready() == nil
		if ready && r.Status == table.Unavailable {
			w.fail("%s is ready and unavailable", m)
		}
		if lacks := has.lacks(w.floor); ready && len(lacks) > 0 {
			w.fail("%s is ready and lacks %v, which the place has", m, lacks)
		}
		for n := range w.line {
			if r.Status == table.Live && w.when[n].Before(r.LastSync.Time()) && !has[n] {
				w.fail("%s is live up to %v and lacks %d of %v", m, r.LastSync.Time(), n, w.when[n])
			}
		}
	}
}

// settle makes the backup location reachable and starts the leader (the newest primary). Then it restores from the location.
// The restored data must have exactly the writes of the leader.
func (w *scenario) settle() {
	if !w.here() {
		w.displace()
	}
	if w.leader.ctx == nil {
		w.start(w.leader, false)
	}
	w.pass(8 * time.Second)
	w.judge()
	if w.leader.store == nil {
		w.fail("the primary %s has no store", w.leader)
	}
	if lacks := w.leader.has().lacks(w.line); len(lacks) > 0 {
		w.fail("the primary %s lacks %v", w.leader, lacks)
	}
	w.pass(32 * time.Second) // long enough for the retry of a failed backup
	w.floor = maps.Clone(w.line)
	has, _ := w.restore(true)
	if more := w.line.lacks(has); len(more) > 0 {
		w.fail("a restore of the newest state has %v, which the primary %s does not have", more, w.leader)
	}
	if said, err := command("backup", "verify", w.place, "--identity", w.identities); err != nil {
		w.fail("verify: %s", said)
	}
	if n := w.leader.backups.Shipped().GivenUp; n > 0 && !w.leader.gap {
		w.fail("the primary %s says that its log has a gap", w.leader)
	}
	w.settled++
}
