package repository

import "time"

// Keep says which backups stay. The zero value keeps all.
type Keep struct {
	Last      int           // the newest backups
	Daily     int           // the newest backup of each of the latest days (UTC) that have one
	OlderThan time.Duration // younger backups stay
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
	for i := len(backups) - 1; i >= 0; i-- {
		m := backups[i]
		at, _ := timeOf(m.ID)
		keep := now.Before(at)
		if !keep {
			keep = last > 0 || now.Sub(at) < k.OlderThan
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
