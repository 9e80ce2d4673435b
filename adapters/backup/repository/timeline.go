package repository

import (
	"fmt"
	"time"

	"edgetable/core/edm"
)

// timelineDir contains an object for each timeline. The object's name contains the timeline's number and ID.
const timelineDir = "timelines/"

// Timeline is one history of the commits of a store. A restored or promoted store begins another timeline. Only the
// store with the newest one may ship its log.
type Timeline struct {
	Number    int       `json:"number"` // number of the timeline; 1 for the first timeline in the backup location
	ID        string    `json:"id"`
	Parent    string    `json:"parent,omitempty"` // ID of the timeline that this timeline continues
	ForkedAt  edm.Ticks `json:"left,omitempty"`   // this timeline shares Parent's commits up to this number; 0 if the number is unknown
	Store     string    `json:"store"`            // identity of the store
	From      string    `json:"from"`             // host and data directory of the store
	StartedAt time.Time `json:"began"`

	damage error // set if the object cannot be read; only Number and ID are then known
}

func (t *Timeline) object() string { return fmt.Sprintf("%s%08d-%s", timelineDir, t.Number, t.ID) }

func parseTimeline(name string) (t Timeline, ok bool) {
	_, err := fmt.Sscanf(name, timelineDir+"%08d-%s", &t.Number, &t.ID)
	return t, err == nil && t.object() == name && isTimelineID(t.ID)
}
