package repository

import (
	"time"

	"edgetable/core/edm"
)

// Keep says which backups a prune keeps. The zero value keeps all.
type Keep struct {
	Last      int           // the number of newest backups to keep
	Daily     int           // the number of latest days (UTC) whose newest backup is kept
	OlderThan time.Duration // backups younger than this are kept
	// PointInTime is a period: each of its moments can be restored. Younger backups are kept, the newest older one,
	// and the log since that one.
	PointInTime time.Duration
}

// None reports whether all backups are kept.
func (k Keep) None() bool { return k == Keep{} }

// split divides backups, sorted from oldest to newest, into those to keep and those to remove. The newest is always
// kept. So are backups with a time in the future, because a wrong clock must not decide. The rules apply to the
// backups on the line of the newest timeline. A backup on any other line is kept as long as an older backup on that
// newest line is kept.
func (k Keep) split(l *line, backups []*Manifest, now time.Time) (stay, remove []*Manifest) {
	if k.None() {
		return backups, nil
	}
	on, off := l.split(backups)
	stay, remove = k.splitLine(on, now)
	for _, m := range off {
		at, _ := timeOf(m.ID)
		young := now.Sub(at) < max(k.OlderThan, k.PointInTime)
		if young || len(stay) == 0 || m.ID > stay[len(stay)-1].ID { // the oldest backup is the last to be removed
			stay = append([]*Manifest{m}, stay...)
		} else {
			remove = append(remove, m)
		}
	}
	return stay, remove
}

func (k Keep) splitLine(backups []*Manifest, now time.Time) (stay, remove []*Manifest) {
	last, days, day := max(k.Last, 1), 0, ""
	base := k.base(backups, now)
	for i := len(backups) - 1; i >= 0; i-- {
		m := backups[i]
		at, _ := timeOf(m.ID)
		keep := now.Before(at)
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

// base returns the index of the backup from which the oldest moment of PointInTime is
// restored, or -1 if no backup and log reach that moment.
func (k Keep) base(backups []*Manifest, now time.Time) int {
	oldest := edm.TicksOf(now.Add(-k.PointInTime))
	for i := len(backups) - 1; i >= 0 && k.PointInTime > 0; i-- {
		if m := backups[i]; m.Log != nil && m.Log.High <= oldest {
			return i
		}
	}
	return -1
}

// logFrom returns the number up to which no log is needed, given the backups that are kept. All of them can be
// restored with the log after them, unless PointInTime limits the period.
func (k Keep) logFrom(backups []*Manifest, now time.Time) edm.Ticks {
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
