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

// timelineFile is the file of a data directory that contains its [Timeline]. A checkpoint does not contain this file, because a copy
// of the store makes other commits and so needs another timeline.
const timelineFile = "TIMELINE"

// Timeline is one history of commits. A restored or promoted store begins a new timeline. The ID of the timeline is a part of the
// names of shipped logs.
type Timeline struct {
	ID     string    `json:"id"`     // "" until the log is first shipped
	Parent string    `json:"parent"` // ID of the timeline that this timeline continues; "" if there is none
	Left   edm.Ticks `json:"left"`   // Parent and this timeline have the same commits up to this number; 0 if the number is not known
	// Next is the ID of a timeline that this store tried to begin at the backup location without receiving a reply. If the newest
	// timeline there has this ID, it belongs to this store.
	Next string `json:"next,omitempty"`
	// Term is the last term (run of a server) that a process with this directory has begun at the backup location. Tried has, in order,
	// later terms that the process tried to begin without receiving a reply. Such a term may still begin. If the backup location has
	// another later term, a process with a copy of this directory began the other term.
	Term  Term   `json:"term,omitzero"`
	Tried []Term `json:"triedTerms,omitempty"`
	// Replaced is set if this store knows that another store has taken over the backup location.
	Replaced *Replaced `json:"replaced,omitempty"`
	// Since is a commit number. The logs in the data directory contain all commits with higher numbers. 0 means that logs are not kept.
	Since edm.Ticks `json:"since"`
}

// Term identifies one run of a server that ships a timeline.
type Term struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
}

// Replaced says why another store has replaced this store at the backup location.
type Replaced struct {
	Why   string    `json:"why"`   // the reason, as a part of a sentence
	Until edm.Ticks `json:"until"` // both stores have the same commits up to this number; 0 if it is not known
	Lacks int       `json:"lacks"` // number of commits of this store that the backup location lacks; negative if it is not known
	Since edm.Ticks `json:"since"` // Timestamp of the first commit that the backup location lacks; 0 if it is not known
}

func (r *Replaced) String() string {
	lacks := "this store may have commits that the backup location lacks; their number is unknown"
	switch {
	case r.Lacks == 0:
		lacks = "the backup location has every commit of this store"
	case r.Lacks > 0:
		lacks = fmt.Sprintf("the backup location lacks %d commits of this store, the first from %s", r.Lacks, r.Since)
	}
	return fmt.Sprintf("%s; %s; 'edgetable promote --take-over' makes this store the primary again, without the writes that only the other store has", r.Why, lacks)
}

// readTimeline reads the file TIMELINE. If the file is missing or damaged, it returns the zero Timeline.
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
		logf("edgetable: %s is damaged: after a new backup, the log will be shipped as the log of a new store", path)
		return Timeline{}, nil
	}
	return t, nil
}

// Descend writes the timeline ID of an original store (parent) to the directory of a copy of the store (dir). When the copy
// first ships its log, it begins another timeline. If the parameter parent is "", Descend does nothing.
func Descend(fs vfs.FS, dir, parent string) error {
	if parent == "" {
		return nil
	}
	return Timeline{Parent: parent}.write(fs, dir)
}

// Inherit writes the timeline ID of an original store to a copy of the store, like Descend. It reads the ID in the directory of the original store.
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
