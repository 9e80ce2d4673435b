package pebblestore_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/table"
)

var (
	damages      = flag.Int("damages", 15, "random damages of TestDamageRun")
	damageResult = flag.String("damage-result", "", "`file` into which TestDamageRun writes its table")
)

// outcome says what happens after a file was damaged: whether the server starts, and what the operator must do.
type outcome string

const (
	allThere  outcome = "the server starts, all entities are there"
	failing   outcome = "the server starts, requests for a damaged block get 500, `check` names it"
	accepting outcome = "the server refuses and names `--accept-damage`, which restores the rest"
	salvaging outcome = "the server refuses and names `check --salvage`, which restores the rest"
)

var outcomes = []outcome{allThere, failing, accepting, salvaging}

// TestDamageRun damages the files of a store at random and then follows the advice in the errors of the store.
// It checks that each entity outside of the damaged blocks has its last version, and that an error reports each
// lost entity.
func TestDamageRun(t *testing.T) {
	t.Parallel()
	bases := []*damageBase{newDamageBase(t, "data files and a log", false), newDamageBase(t, "several logs", true), newDamageBase(t, "after a clean end", false)}
	table := map[string]map[outcome]int{}
	for n := range *damages {
		random := rand.New(rand.NewPCG(uint64(n), 29))
		b := bases[n%len(bases)]
		d := b.damage(t, random)
		place := copyOf(b.disk)
		d.apply(t, place)
		result, err := b.runDamaged(t, place, d)
		if err != nil {
			t.Errorf("damage %d, %s: %s: %v", n, b.name, d, err)
			continue
		}
		if table[d.kind] == nil {
			table[d.kind] = map[outcome]int{}
		}
		table[d.kind][result]++
	}
	text := resultTable(*damages, table)
	t.Log("\n" + text)
	if *damageResult != "" && !t.Failed() {
		if err := replaceSection(*damageResult, text); err != nil {
			t.Error(err)
		}
	}
}

// resultTable formats the outcomes as a table in Markdown, by kind of file.
func resultTable(n int, table map[string]map[outcome]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d random damages, by the damaged file:\n\n| Result |", n)
	kinds := []string{"data file", "log", "MANIFEST", "LOGS", "TABLES", "OPTIONS", "marker"}
	for _, k := range kinds {
		fmt.Fprintf(&b, " %s |", k)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(kinds)) + "\n")
	for _, o := range outcomes {
		fmt.Fprintf(&b, "| %s |", o)
		for _, k := range kinds {
			fmt.Fprintf(&b, " %d |", table[k][o])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// replaceSection replaces the text between two HTML comments of a document.
func replaceSection(path, text string) error {
	const begin, end = "<!-- make damage -->\n", "<!-- end -->"
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return fmt.Errorf("%s has no place for the table", path)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}

// runDamaged follows the advice in the errors of a damaged store. Then it compares the readable entities with
// the expected entities.
func (b *damageBase) runDamaged(t *testing.T, disk *vfs.MemFS, d damage) (outcome, error) {
	risk := b.atRisk(t, d)
	saved := copyOf(disk)
	report, err := check(t, saved, "saved")
	if err != nil {
		return "", fmt.Errorf("check --salvage: %w", err)
	}
	lines := new(atomic.Int32)
	open := func(dir string, accept bool) (*pebblestore.Store, error) {
		from := disk
		if dir == "saved" {
			from = saved
		}
		return pebblestore.Open(pebblestore.Options{
			Dir: dir, FS: from, AcceptDamage: accept, Fatal: func(err error) { t.Errorf("fatal: %v", err) },
			Logf: func(string, ...any) { lines.Add(1) },
		})
	}
	look := func(dir string, accept bool) (lost int, err error) {
		s, err := open(dir, accept)
		if err != nil {
			return 0, err
		}
		defer s.Close()
		return b.compare(t, s, risk, len(report.Problems) > 0)
	}
	lostBySalvage, err := look("saved", false)
	if err != nil {
		return "", fmt.Errorf("what was saved: %w (problems: %.600q)", err, report.Problems)
	}
	if lostBySalvage < 0 {
		return "", errors.New("what was saved is damaged")
	}
	if lostBySalvage > 0 && len(report.Problems) == 0 {
		return "", fmt.Errorf("%d entities are lost, and check finds nothing", lostBySalvage)
	}
	lost, err := look("data", false)
	before := fingerprint(t, disk)
	switch {
	case err == nil && lost == 0:
		return allThere, nil
	case err == nil:
		if len(report.Problems) == 0 {
			return "", fmt.Errorf("%d entities are lost, the server starts, and check finds nothing", lost)
		}
		if lost < 0 {
			return failing, nil
		}
		return "", fmt.Errorf("%d entities are lost, and the server starts", lost)
	case len(report.Problems) == 0:
		return "", fmt.Errorf("check finds nothing, but the server refuses: %w", err)
	case errors.Is(err, pebblestore.ErrLost):
		lines.Store(0)
		if _, err := look("data", true); err != nil {
			return "", fmt.Errorf("accepted: %w", err)
		}
		if lines.Load() == 0 {
			return "", errors.New("nothing was said about the accepted loss")
		}
		return accepting, nil
	case strings.Contains(err.Error(), "--salvage"):
		if _, again := look("data", true); again == nil || fingerprint(t, disk) != before {
			return "", fmt.Errorf("accepted (%v), or changed, what was refused: %w", again, err)
		}
		return salvaging, nil
	}
	return "", fmt.Errorf("the error names no command: %w", err)
}

// fingerprint returns the names and sizes of the files that hold data.
func fingerprint(t *testing.T, disk vfs.FS) string {
	t.Helper()
	text := ""
	for _, path := range names(t, disk, "") {
		if strings.HasSuffix(path, ".log") || strings.HasSuffix(path, ".sst") {
			text += fmt.Sprintf("%s %d\n", path, len(content(t, disk, path)))
		}
	}
	return text
}

// compare counts the lost entities. It returns -1 if reads of some entities fail. The parameter risk is the
// set of the entities that may be lost. All other entities must have their last version. If the parameter
// told is true, a report of damage has announced that deleted entities may exist again. Then compare permits
// such entities.
func (b *damageBase) compare(t *testing.T, s *pebblestore.Store, risk map[string]bool, told bool) (lost int, err error) {
	fails := 0
	recovered := b.recovered(t, s)
	for _, name := range slices.Sorted(keysOf(b.tables)) {
		w := b.tables[name]
		from := w.key
		if _, err := s.ReadRecord(t.Context(), w.key, table.Strong); errors.Is(err, table.ErrNoRecord) && !w.dropped {
			if from = recovered(w); from == (table.RecordKey{}) {
				return 0, fmt.Errorf("the table %s is gone", name)
			}
		}
		for k, states := range w.entities {
			want := states[len(states)-1]
			row, err := s.Get(t.Context(), from, []byte(k), table.Strong)
			have := version("")
			switch {
			case err == nil:
				have = version(row.Properties)
			case errors.Is(err, table.ErrNoEntity), errors.Is(err, table.ErrNoTable):
			default:
				if fails++; fails > 10 { // stop after a few failed reads, which are slow: Pebble spends milliseconds on a search for a single flipped bit
					return -1, nil
				}
				continue // the entity may be in a damaged block
			}
			switch {
			case have == want:
			case have != "" && !slices.Contains(states, have):
				return 0, fmt.Errorf("%s %q has a state that was never written", name, k)
			case want == "" && told: // a deleted entity exists again
			case !risk[name+k]:
				return 0, fmt.Errorf("%s %q is outside of the damage and lost (%d states, there: %v)", name, k, len(states), have != "")
			default:
				lost++
			}
		}
	}
	if lost == 0 && fails > 0 {
		return -1, nil
	}
	return lost, nil
}

// recovered returns a function that finds a table, by its incarnation, among the tables that a salvage has
// renamed.
func (b *damageBase) recovered(t *testing.T, s *pebblestore.Store) func(w *writtenTable) table.RecordKey {
	return func(w *writtenTable) table.RecordKey {
		for n := 1; n <= len(b.tables)+1; n++ {
			key := table.RecordKey{Account: w.key.Account, Table: fmt.Sprintf("recovered%d", n)}
			r, err := s.ReadRecord(t.Context(), key, table.Strong)
			if err == nil && r.Incarnation == w.incarnation {
				return key
			}
		}
		return table.RecordKey{}
	}
}

// damage is a change to one file.
type damage struct {
	path, kind, what string
	at, size         int // position and number of the changed bytes
	after            []byte
	gone             bool
}

func (d damage) String() string {
	return fmt.Sprintf("%s: %s at %d, %d bytes", d.path, d.what, d.at, d.size)
}

func (d damage) apply(t *testing.T, disk *vfs.MemFS) {
	t.Helper()
	if !d.gone {
		rewrite(t, disk, d.path, d.after)
	} else if err := disk.Remove(d.path); err != nil {
		t.Fatal(err)
	}
	syncDir(t, disk)
}

// damage chooses a random file, and a random change that damages the file.
func (b *damageBase) damage(t *testing.T, random *rand.Rand) damage {
	t.Helper()
	kinds := slices.Sorted(keysOf(b.files))
	kind := kinds[random.IntN(len(kinds))]
	if random.IntN(2) == 0 {
		kind = "log"
		if b.files["data file"] != nil && random.IntN(2) == 0 {
			kind = "data file"
		}
	}
	path := b.files[kind][random.IntN(len(b.files[kind]))]
	old := content(t, b.disk, path)
	n := len(old)
	d := damage{path: path, kind: kind, after: bytes.Clone(old)}
	if n > 0 {
		d.at = random.IntN(n)
	}
	what := random.IntN(10)
	if n < 8 || kind == "marker" {
		what = 9
	}
	switch what {
	case 0:
		d.what, d.size = "a flipped bit", 1
		d.after[d.at] ^= 1 << random.IntN(8)
	case 1:
		d.what, d.size = "a flipped byte", 1
		d.after[d.at] ^= byte(1 + random.IntN(255))
	case 2:
		d.what, d.size = "4 flipped bytes", min(4, n-d.at)
		for i := range d.size {
			d.after[d.at+i] ^= byte(1 + random.IntN(255))
		}
	case 3:
		d.what, d.at = "4 KiB of zeros", d.at&^4095
		d.size = min(4096, n-d.at)
		clear(d.after[d.at : d.at+d.size])
	case 4:
		d.what, d.at, d.size = "swapped blocks", 0, n
		if i, j := random.IntN(n/4096+1)*4096, random.IntN(n/4096+1)*4096; max(i, j)+4096 <= n && i != j {
			copy(d.after[i:i+4096], old[j:j+4096])
			copy(d.after[j:j+4096], old[i:i+4096])
			d.at, d.size = min(i, j), max(i, j)-min(i, j)+4096
		} else {
			slices.Reverse(d.after)
		}
	case 5:
		d.what, d.size = "a duplicated piece", n-d.at
		d.after = slices.Concat(old[:d.at], old[max(0, d.at-4096):])
	case 6:
		d.what, d.size = "cut", n-d.at
		d.after = old[:d.at]
	case 7:
		d.what, d.at, d.size = "emptied", 0, n
		d.after = nil
	case 8:
		d.what, d.at, d.size = "100 bytes appended", n, 0
		for range 100 {
			d.after = append(d.after, byte(random.Uint32()))
		}
	case 9:
		d.what, d.at, d.size, d.gone = "deleted", 0, n, true
	}
	return d
}
