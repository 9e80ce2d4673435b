package repository

import (
	"time"

	"edgetable/core/edm"
)

// Keep says which backups stay. The zero value keeps all.
type Keep struct {
	Last      int           // the newest backups
	Daily     int           // the newest backup of each of the latest days (UTC) that have one
	OlderThan time.Duration // younger backups stay
	// PointInTime says that each moment of this time can be restored: younger backups stay,
	// the newest older one, and the log since that.
	PointInTime time.Duration
}

// None reports whether no backup is removed.
func (k Keep) None() bool { return k == Keep{} }

// split divides backups, sorted from oldest to newest, into those that stay and those
// that go. The newest always stays. So do backups with a time in the future: a wrong
// clock must not decide.
func (k Keep) split(backups []*Manifest, now time.Time) (stay, remove []*Manifest) {
	if k.None() {
		return backups, nil
	}
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
// restored, or -1: the log leads there from none.
func (k Keep) base(backups []*Manifest, now time.Time) int {
	oldest := edm.TicksOf(now.Add(-k.PointInTime))
	for i := len(backups) - 1; i >= 0 && k.PointInTime > 0; i-- {
		if m := backups[i]; m.Log != nil && m.Log.High <= oldest {
			return i
		}
	}
	return -1
}

// logFrom returns the number up to which no log is needed, of backups that stay: they are
// all restored with the log behind them, unless PointInTime says for how long.
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
