package logship

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/wholefile"
	"edgetable/core/edm"
)

// timelineFile is the file of a data directory with its [Timeline]. It is not in a
// checkpoint: a copy of the store has a history of its own.
const timelineFile = "TIMELINE"

// Timeline says which history the commits of a store belong to, for the place where its
// log is shipped.
type Timeline struct {
	ID     string    `json:"id"`     // "": it gets one when its log is first shipped
	Parent string    `json:"parent"` // the timeline that it continues
	Left   edm.Ticks `json:"left"`   // up to this number both have the same commits; 0: not known
	// Next is the ID of a timeline that is being begun: if the place has it as the newest, it is
	// that of this store, which did not hear so.
	Next string `json:"next,omitempty"`
	// Term is the last term that this directory has begun on the timeline. Tried are later ones whose replies
	// did not come, the last one last: requests of killed processes may still arrive at the place. If the
	// place has another later term, a copy of the directory has started since.
	Term  Term   `json:"term,omitzero"`
	Tried []Term `json:"triedTerms,omitempty"`
	// Replaced says that another store has taken over the place; nil: not as far as this store knows.
	Replaced *Replaced `json:"replaced,omitempty"`
	// Since is a number above which the logs in the data directory have every commit; 0:
	// logs are not kept.
	Since edm.Ticks `json:"since"`
}

// Term is one run of a program that ships a timeline.
type Term struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
}

// Replaced says how a store was replaced.
type Replaced struct {
	Why   string    `json:"why"`   // the end of a sentence
	Until edm.Ticks `json:"until"` // up to this number both stores have the same commits; 0: not known
	Lacks int       `json:"lacks"` // how many commits of this store the place does not have; below 0: not known
	Since edm.Ticks `json:"since"` // the first of them; 0: not known
}

func (r *Replaced) String() string {
	lacks := "how many commits of this store the place lacks is not known"
	switch {
	case r.Lacks == 0:
		lacks = "the place lacks no commit of this store"
	case r.Lacks > 0:
		lacks = fmt.Sprintf("the place lacks %d commits of this store, the first one of %s", r.Lacks, r.Since)
	}
	return fmt.Sprintf("%s; %s; 'edgetable promote --take-over' makes it the primary again, without what the other one wrote", r.Why, lacks)
}

// readTimeline reads the file. A missing or damaged one is that of a new history.
func readTimeline(from vfs.FS, dir string, logf func(string, ...any)) (t Timeline, err error) {
	path := from.PathJoin(dir, timelineFile)
	b, err := wholefile.Read(from, path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	text, sum, _ := strings.Cut(string(b), "\n")
	if sum != timelineSum(text) || json.Unmarshal([]byte(text), &t) != nil {
		logf("edgetable: %s is damaged: the log will be shipped as that of a new store, after a backup", path)
		return Timeline{}, nil
	}
	return t, nil
}

// Descend notes which timeline the store in a directory was copied from, "" if it is not known: it
// begins one of its own there when its log is first shipped.
func Descend(fs vfs.FS, dir, parent string) error {
	if parent == "" {
		return nil
	}
	return Timeline{Parent: parent}.write(fs, dir)
}

// Inherit is Descend for a copy of a store in another directory.
func Inherit(fs vfs.FS, from, to string) error {
	t, err := readTimeline(fs, from, func(string, ...any) {})
	if err != nil {
		return err
	}
	return Descend(fs, to, cmp.Or(t.ID, t.Parent))
}

func timelineSum(text string) string {
	return fmt.Sprintf("crc %08x\n", crc32.ChecksumIEEE([]byte(text)))
}

func (t Timeline) write(to vfs.FS, dir string) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return wholefile.Replace(to, dir, timelineFile, []byte(string(text)+"\n"+timelineSum(string(text))))
}
