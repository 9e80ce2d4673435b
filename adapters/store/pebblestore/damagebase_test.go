package pebblestore_test

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

func keysOf[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// version is the content of an entity after one of its changes, or "" if the entity is absent.
type version string

// writtenTable records everything that was ever written to a table.
type writtenTable struct {
	key         table.RecordKey
	incarnation table.Incarnation
	dropped     bool
	entities    map[string][]version // all versions of each entity, by key; the store must have the last version
}

// damageBase is the data directory of a killed store, with everything that was written to the
// store.
type damageBase struct {
	name   string
	disk   *vfs.MemFS
	files  map[string][]string // paths of the files, by kind of file
	tables map[string]*writtenTable
	made   byte
}

// holdFlushFS is a file system on which flushes wait, so that many logs exist.
type holdFlushFS struct {
	*vfs.MemFS
	until chan struct{}
}

func (h holdFlushFS) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(path, ".sst") {
		<-h.until
	}
	return h.MemFS.Create(path, c)
}

// newDamageBase writes, changes and deletes entities. It drops a table and creates the table again.
func newDamageBase(t *testing.T, name string, logs bool) *damageBase {
	t.Helper()
	b := &damageBase{name: name, files: map[string][]string{}, tables: map[string]*writtenTable{}}
	disk := vfs.NewCrashableMem()
	fs := holdFlushFS{disk, make(chan struct{})}
	o := pebblestore.Options{Dir: "data", FS: fs, Logf: t.Logf, Fatal: func(err error) { t.Errorf("fatal: %v", err) }}.Small()
	if logs {
		o = o.Piling()
	} else {
		close(fs.until)
	}
	s, err := pebblestore.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(len(name)), 1))
	for _, n := range []string{"People", "Orders", "Gone", "Again"} {
		b.create(t, s, n)
		for i := range 600 {
			b.write(t, s, n, i, random)
		}
		if n == "Gone" || n == "Again" {
			b.drop(t, s, n)
		}
	}
	b.create(t, s, "Again")
	for range 2500 {
		b.write(t, s, []string{"People", "Orders", "Again"}[random.IntN(3)], random.IntN(700), random)
	}
	if err := s.Mark(); err != nil {
		t.Fatal(err)
	}
	if name == "after a clean end" {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b.disk = copyOf(disk)
	if logs {
		close(fs.until)
	}
	if name != "after a clean end" {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range names(t, b.disk, "") {
		base := b.disk.PathBase(path)
		for kind, is := range map[string]bool{
			"data file": strings.HasSuffix(base, ".sst"), "log": strings.HasSuffix(base, ".log"),
			"MANIFEST": strings.HasPrefix(base, "MANIFEST"), "OPTIONS": strings.HasPrefix(base, "OPTIONS"),
			"marker": strings.HasPrefix(base, "marker."), "LOGS": base == "LOGS", "TABLES": base == "TABLES",
		} {
			if is {
				b.files[kind] = append(b.files[kind], path)
			}
		}
	}
	if logs && len(b.files["log"]) < 4 || !logs && len(b.files["data file"]) < 4 {
		t.Fatalf("%s: %v", name, b.files)
	}
	return b
}

func (b *damageBase) create(t *testing.T, s *pebblestore.Store, name string) {
	t.Helper()
	b.made++
	r := table.NewRecord(table.Name{Account: "acct", Table: name}, table.Incarnation{b.made})
	if _, err := s.WriteRecord(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if old := b.tables[name]; old != nil {
		b.tables[name+" before"] = old
	}
	b.tables[name] = &writtenTable{key: r.Key, incarnation: r.Incarnation, entities: map[string][]version{}}
}

func (b *damageBase) drop(t *testing.T, s *pebblestore.Store, name string) {
	t.Helper()
	w := b.tables[name]
	r, err := s.ReadRecord(t.Context(), w.key, table.Strong)
	if err == nil {
		err = s.Drop(t.Context(), w.key, r.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.dropped = true
	for k, states := range w.entities {
		w.entities[k] = append(states, "")
	}
	if name == "Again" {
		delete(b.tables, name) // the test creates another table with this name, and no longer checks the dropped table
	}
}

// write writes or deletes entity i of a table, and records the new version of the entity.
func (b *damageBase) write(t *testing.T, s *pebblestore.Store, name string, i int, random *rand.Rand) {
	t.Helper()
	w := b.tables[name]
	k := key.Append(nil, fmt.Sprintf("p%03d", i/10), fmt.Sprint(i%10))
	states := w.entities[string(k)]
	m := table.Mutation{Key: k, Kind: table.Put}
	if len(states) > 0 && states[len(states)-1] != "" && random.IntN(5) == 0 {
		m.Kind = table.Delete
	} else {
		text := make([]byte, 100+random.IntN(300))
		for i := range text {
			text[i] = byte('a' + random.IntN(26))
		}
		m.Properties = edm.AppendProperty(nil, "Text", edm.String(string(text)))
	}
	if _, err := s.Commit(t.Context(), w.key, []table.Mutation{m}); err != nil {
		t.Fatal(err)
	}
	w.entities[string(k)] = append(states, version(m.Properties))
}

// atRisk returns the entities that have a version in the damaged blocks. The map key is the name of
// the table followed by the key of the entity.
func (b *damageBase) atRisk(t *testing.T, d damage) map[string]bool {
	t.Helper()
	byIncarnation := map[table.Incarnation]string{}
	for name, w := range b.tables {
		byIncarnation[w.incarnation] = name
	}
	risk := map[string]bool{}
	add := func(k []byte) {
		if len(k) > 13 && k[0] == 2 {
			risk[byIncarnation[table.Incarnation(k[1:13])]+string(k[13:])] = true
		}
	}
	switch d.kind {
	case "data file":
		pebblestore.KeysOfDataFile(t, b.disk, d.path, d.at, d.size, add)
	case "log":
		pebblestore.KeysOfLog(t, content(t, b.disk, d.path), b.disk.PathBase(d.path), d.at, d.size, add)
	}
	return risk
}
