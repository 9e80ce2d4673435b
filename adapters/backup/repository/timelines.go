package repository

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"edgetable/core/edm"
)

// timelineDir has an object for each timeline: its number and its ID are in the name.
const timelineDir = "timelines/"

// Timeline is one history of the commits of a store. A store that was restored or promoted
// begins a new one. The store of the newest timeline is the primary; any other one must not
// ship.
type Timeline struct {
	Number int       `json:"number"` // 1 for the first one in the place
	ID     string    `json:"id"`
	Parent string    `json:"parent,omitempty"` // the timeline that it continues
	Left   edm.Ticks `json:"left,omitempty"`   // up to this number both have the same commits; 0: not known
	Store  string    `json:"store"`            // identity
	From   string    `json:"from"`             // host and data directory
	Began  time.Time `json:"began"`

	damage error // it cannot be read: only Number and ID are known
}

func (t *Timeline) object() string { return fmt.Sprintf("%s%08d-%s", timelineDir, t.Number, t.ID) }

// NewTimelineID returns the random name of a timeline.
func NewTimelineID() string {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// isTimelineID reports whether a text has the form of a name of a timeline.
func isTimelineID(s string) bool { return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == "" }

// Timelines returns the timelines in the place, the newest last.
func (r *Repository) Timelines(ctx context.Context) (list []Timeline, err error) {
	var names []string
	for o, err := range r.objects.List(ctx, timelineDir) {
		if err != nil {
			return nil, err
		}
		names = append(names, o.Name)
	}
	slices.Sort(names)
	for _, name := range names {
		var t Timeline
		if _, err := fmt.Sscanf(name, timelineDir+"%08d-%s", &t.Number, &t.ID); err != nil || t.object() != name || !isTimelineID(t.ID) {
			continue
		}
		b, err := r.objects.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		var read Timeline
		if err := unseal(b, &read); err != nil {
			t.damage = err
		} else if read.Number != t.Number || read.ID != t.ID {
			t.damage = fmt.Errorf("it is that of %s", read.ID)
		} else {
			t = read
		}
		list = append(list, t)
	}
	return list, nil
}

// NewestTimeline returns the name of the newest timeline, "" if there is none. It reads no
// object.
func (r *Repository) NewestTimeline(ctx context.Context) (id string, err error) {
	newest := ""
	for o, err := range r.objects.List(ctx, timelineDir) {
		if err != nil {
			return "", err
		}
		if _, end, ok := strings.Cut(strings.TrimPrefix(o.Name, timelineDir), "-"); ok && isTimelineID(end) && o.Name > newest {
			newest, id = o.Name, end
		}
	}
	return id, nil
}

// BeginTimeline writes a new timeline, from which on no other store may ship. The
// caller sets Parent, Left, Store, From and Began, and ID where it has chosen one: with the
// same ID the call can be repeated while no other timeline was begun.
func (r *Repository) BeginTimeline(ctx context.Context, t Timeline) (*Timeline, error) {
	if err := r.claim(ctx, t.Store); err != nil {
		return nil, err
	}
	all, err := r.Timelines(ctx)
	if err != nil {
		return nil, err
	}
	if t.ID == "" {
		t.ID = NewTimelineID()
	}
	t.Number = 1
	if len(all) > 0 {
		newest := all[len(all)-1]
		if t.Number = newest.Number; newest.ID != t.ID {
			t.Number++
		}
	}
	b, err := seal(&t)
	if err != nil {
		return nil, err
	}
	return &t, r.objects.Put(ctx, t.object(), b)
}
