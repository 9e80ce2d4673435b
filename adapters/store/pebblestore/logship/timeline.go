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

// timelineFile is the file of a data directory with its [Timeline]. A checkpoint does not contain it, because a copy
// of the store has a history of its own.
const timelineFile = "TIMELINE"

// Timeline says to which history the commits of a store belong. A shipped log is stored under the ID of its timeline.
type Timeline struct {
	ID     string    `json:"id"`     // "" until its log is first shipped
	Parent string    `json:"parent"` // the timeline that it continues
	Left   edm.Ticks `json:"left"`   // up to this number both have the same commits; 0 if it is not known
	// Next is the ID of a timeline that this store began in the place without hearing back. If it is the newest one
	// in the place, it belongs to this store.
	Next string `json:"next,omitempty"`
	// Term is the last term that this directory has begun on the timeline. Tried are later ones whose replies were
	// lost, in order: requests of killed processes may still arrive at the place. If the place has any other later
	// term, a copy of the directory has started since.
	Term  Term   `json:"term,omitzero"`
	Tried []Term `json:"triedTerms,omitempty"`
	// Replaced says that another store has taken over the place. It is nil if this store knows of none.
	Replaced *Replaced `json:"replaced,omitempty"`
	// Since is a number: the logs in the data directory contain every commit above it. 0 means that logs are not
	// kept.
	Since edm.Ticks `json:"since"`
}

// Term is one run of a program that ships a timeline.
type Term struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
}

// Replaced says how a store was replaced.
type Replaced struct {
	Why   string    `json:"why"`   // the end of a sentence that gives the reason
	Until edm.Ticks `json:"until"` // up to this number both stores have the same commits; 0 if it is not known
	Lacks int       `json:"lacks"` // number of commits of this store that the place does not have; below 0 if it is not known
	Since edm.Ticks `json:"since"` // Timestamp of the first of them; 0 if it is not known
}

func (r *Replaced) String() string {
	lacks := "how many commits of this store the place lacks is not known"
	switch {
	case r.Lacks == 0:
		lacks = "the place has every commit of this store"
	case r.Lacks > 0:
		lacks = fmt.Sprintf("the place lacks %d commits of this store, the first one of %s", r.Lacks, r.Since)
	}
	return fmt.Sprintf("%s; %s; 'edgetable promote --take-over' makes it the primary again, without what the other one wrote", r.Why, lacks)
}

// readTimeline reads the file. If it is missing or damaged, the store begins a new history.
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

// Descend records the timeline from which the store in a directory was copied, or "" if it is not known. The copy
// begins a timeline of its own when its log is first shipped.
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
