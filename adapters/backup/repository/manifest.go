package repository

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"edgetable/adapters/backup/repository/internal/seal"
	"edgetable/core/edm"
)

// Manifest describes a backup.
type Manifest struct {
	ID        string    `json:"id"`
	Store     string    `json:"store"` // identity of the store
	StartedAt time.Time `json:"began"`
	EndedAt   time.Time `json:"ended,omitzero"`
	From      string    `json:"from"`    // host and data directory of the store
	Program   string    `json:"program"` // version of the program that wrote the backup
	// Recipients are the public keys for which the objects are encrypted; none means no encryption.
	Recipients []string `json:"recipients,omitempty"`
	New        int64    `json:"new"`           // total size in bytes of the objects that this run wrote
	Log        *LogSpan `json:"log,omitempty"` // where the log continues the backup; nil if no log continues it
	// SpanWithoutLog says which commits the backup has if no log continues it. SpanWithoutLog is nil if Log is set, or
	// if these commits are unknown.
	SpanWithoutLog *LogSpan `json:"alone,omitempty"`
	// OtherTimeline is the timeline of the store if the backup location did not have this timeline when the backup
	// ended. Log and SpanWithoutLog are then nil.
	OtherTimeline string `json:"other,omitempty"`
	Files         []File `json:"files"`
	// Mended lists the damaged objects of earlier backups, with the kind of damage. This backup has stored their
	// content again.
	Mended []string `json:"-"`
}

// history returns the span that says which commits the backup has, or nil if this is unknown.
func (m *Manifest) history() *LogSpan {
	if m.Log != nil {
		return m.Log
	}
	return m.SpanWithoutLog
}

// Timeline returns the timeline of the store when it made the backup, or "" if it is unknown. The backup location
// may lack this timeline.
func (m *Manifest) Timeline() string {
	if span := m.history(); span != nil {
		return span.Timeline
	}
	return m.OtherTimeline
}

// reach returns a commit number up to which the backup has all commits.
func (m *Manifest) reach() edm.Ticks {
	if span := m.history(); span != nil {
		return span.Low
	}
	return edm.TicksOf(m.StartedAt)
}

// File is a file of the data directory, stored in parts. Each part has partSize bytes; the last part may be smaller.
type File struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // Unix time in nanoseconds
	Parts    []Part `json:"parts"`
}

// Part is a part of a file.
type Part struct {
	Object string `json:"object"` // name of the object in objects/
	Size   int64  `json:"size"`   // size of the object in bytes
}

const partSize = 8 << 20

// Size returns the total size of all files in bytes.
func (m *Manifest) Size() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// newID returns the name of a new backup run. Names sort in the order of time.
func newID(now time.Time) string {
	var b [4]byte
	rand.Read(b[:])
	return now.UTC().Format(idTime) + "-" + hex.EncodeToString(b[:])
}

const idTime = "20060102T150405.000Z"

// timeOf returns the time in the name of a run.
func timeOf(id string) (time.Time, bool) {
	at, _, _ := strings.Cut(id, "-")
	t, err := time.Parse(idTime, at)
	return t, err == nil && len(id) == len(idTime)+9
}

// objectName returns the name that a run gives to an object with the content b.
func objectName(b []byte, run string) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]) + run[strings.LastIndexByte(run, '-'):]
}

// sumOf returns the checksum in the name of an object. The name of the run follows the checksum.
func sumOf(object string) string {
	sum, _, _ := strings.Cut(object, "-")
	return sum
}

// intact reports whether b is the content of the object.
func intact(object string, b []byte) bool {
	sum := sha256.Sum256(b)
	return sumOf(object) == hex.EncodeToString(sum[:])
}

// decode decodes and checks the manifest of a run.
func decode(id string, b []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := seal.Decode(b, m); err != nil {
		return nil, err
	}
	if m.ID != id {
		return nil, fmt.Errorf("the manifest belongs to backup %s", m.ID)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return m, nil
}

// maxFiles is the maximum number of files of a backup. A store of 10 TiB has about a tenth of this number.
const maxFiles = 100_000

// check refuses a manifest with names outside of the backup's folders or with too many files, because anyone who can
// write to the location could forge a manifest.
func (m *Manifest) check() error {
	if len(m.Files) > maxFiles {
		return fmt.Errorf("the manifest lists %d files; a backup has at most %d", len(m.Files), maxFiles)
	}
	for _, span := range []*LogSpan{m.Log, m.SpanWithoutLog} {
		if span != nil && (span.Low < 0 || span.Low > span.High || !isTimelineID(span.Timeline)) {
			return errors.New("the manifest does not name a valid position in the log after which the backup was made")
		}
	}
	if m.OtherTimeline != "" && !isTimelineID(m.OtherTimeline) {
		return errors.New("the manifest does not name a valid timeline (history of commits)")
	}
	seen := make(map[string]bool, len(m.Files))
	for _, f := range m.Files {
		switch {
		case !isFileName(f.Name):
			return fmt.Errorf("%.300q is not the name of a file", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("%s occurs twice", f.Name)
		case f.Size < 0 || f.Size > math.MaxInt64-partSize || int64(len(f.Parts)) != (f.Size+partSize-1)/partSize:
			return fmt.Errorf("%s has a number of parts that does not match its size", f.Name)
		}
		seen[f.Name] = true
		for _, p := range f.Parts {
			unwritten := p.Object == "" && m.EndedAt.IsZero() // an interrupted run did not write this part
			if !isObjectName(p.Object) && !unwritten {
				return fmt.Errorf("%s: %.300q is not a valid object name", f.Name, p.Object)
			}
		}
	}
	return nil
}

// isFileName reports whether s is a plain file name, without a folder, on every operating system.
func isFileName(s string) bool {
	control := func(c rune) bool { return c < ' ' || c == 0x7f }
	return s != "" && s != "." && s != ".." && len(s) <= 255 && !strings.ContainsAny(s, `/\:`) && !strings.ContainsFunc(s, control)
}

func isObjectName(s string) bool {
	sum, run, ok := strings.Cut(s, "-")
	return ok && len(sum) == 2*sha256.Size && len(run) == 8 && strings.Trim(sum+run, "0123456789abcdef") == ""
}
