package repository

import (
	"time"

	"edgetable/core/edm"
)

// Retention says which backups a prune keeps. The zero value keeps all backups.
type Retention struct {
	Last      int           // the number of newest backups to keep
	Daily     int           // the newest backup of each day (UTC) is kept, for this number of days with backups
	OlderThan time.Duration // backups younger than this duration are kept
	// PointInTime is the length of a period that ends now. A prune keeps the backups and the log from which every
	// moment of this period can be restored.
	PointInTime time.Duration
}

// IsEmpty reports whether there are no rules. In this case all backups are kept.
func (k Retention) IsEmpty() bool { return k == Retention{} }

// split divides backups, sorted from oldest to newest, into backups to keep and backups to remove.
//
// The rules of Retention apply to the newest timeline and its ancestors. Any other backup is kept until all older
// backups of these timelines are removed.
func (k Retention) split(l *line, backups []*Manifest, now time.Time) (stay, remove []*Manifest) {
	if k.IsEmpty() {
		return backups, nil
	}
	on, off := l.split(backups)
	stay, remove = k.splitLine(on, now)
	for _, m := range off {
		at, _ := timeOf(m.ID)
		young := now.Sub(at) < max(k.OlderThan, k.PointInTime)
		if young || len(stay) == 0 || m.ID > stay[len(stay)-1].ID {
			stay = append([]*Manifest{m}, stay...)
		} else {
			remove = append(remove, m)
		}
	}
	return stay, remove
}

func (k Retention) splitLine(backups []*Manifest, now time.Time) (stay, remove []*Manifest) {
	last, days, day := max(k.Last, 1), 0, "" // the newest backup is always kept
	base := k.base(backups, now)
	for i := len(backups) - 1; i >= 0; i-- {
		m := backups[i]
		at, _ := timeOf(m.ID)
		keep := now.Before(at) // a wrong clock must not remove a backup
		if !keep {
			keep = last > 0 || now.Sub(at) < max(k.OlderThan, k.PointInTime) || i == base
			last--
			if d := at.Format(time.DateOnly); d != day {
				day = d
				days++
				keep = keep || days <= k.Daily
			}
		}
		if keep {
			stay = append(stay, m)
		} else {
			remove = append(remove, m)
		}
	}
	return stay, remove
}

// base returns the index of the backup from which the oldest moment of PointInTime can be restored, or -1 if no backup
// is old enough.
func (k Retention) base(backups []*Manifest, now time.Time) int {
	oldest := edm.TicksOf(now.Add(-k.PointInTime))
	for i := len(backups) - 1; i >= 0 && k.PointInTime > 0; i-- {
		if m := backups[i]; m.Log != nil && m.Log.High <= oldest {
			return i
		}
	}
	return -1
}

// logFrom returns the commit number up to which the log is not needed, neither to restore the given backups nor to
// restore a moment in PointInTime.
func (k Retention) logFrom(backups []*Manifest, now time.Time) edm.Ticks {
	if i := k.base(backups, now); i >= 0 {
		return backups[i].Log.Low
	}
	for _, m := range backups {
		if m.Log != nil {
			return m.Log.Low
		}
	}
	return 0
}
