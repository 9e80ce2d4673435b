// Package mirror keeps copies of tables up to date in another service. It reads the feeds of their changes
// (docs/feed.md).
package mirror

import (
	"context"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// Mirror follows the changes of tables.
type Mirror struct {
	From, To    *remote.Client
	Connections int
	Rejects     string // path of the file of refused rows
	// Wait is how many seconds a request may wait for changes. If it is 0, Run returns when all existing changes are
	// written.
	Wait int
	// Progress is called after each page of a table that was written, with the number of changes since the start. Calls
	// do not overlap.
	Progress func(table string, page *remote.Changes, changes int64)
	Tell     func(table, reason string) // called for each refused row

	tables   []*followed
	mu       sync.Mutex // protects the following fields
	totals   progressfile.Totals
	rejected rows.RejectFile
}

// followed is a table that is followed, and its position.
type followed struct {
	State
	file    string
	changes int64
	checked bool // since the start
}

// Add adds a table. It reads the position from file, or takes the current one if there is no file. If the table must
// still be copied, its position is taken before the copy, so that no change is missed in between.
func (m *Mirror) Add(ctx context.Context, table, file string) error {
	t := &followed{State: State{Service: m.From.Endpoint().String(), Table: table}, file: file}
	known, err := t.Read(file)
	if err == nil && !known {
		var page remote.Changes
		page, err = m.From.Changes(ctx, table, "", 0)
		t.Position, t.Listing = page.Next, true
	}
	m.tables = append(m.tables, t)
	return err
}

// Begin writes the positions that Add found, and returns the tables that must still be copied.
func (m *Mirror) Begin() (missing []string, err error) {
	for _, t := range m.tables {
		if err := t.Write(t.file); err != nil {
			return nil, err
		}
		if t.Listing {
			missing = append(missing, t.Table)
		}
	}
	return missing, nil
}

// Refused returns how many entities were refused since the tables were copied, by all runs.
func (m *Mirror) Refused() (n int64) {
	for _, t := range m.tables {
		n += t.Refused
	}
	return n
}

// Copied notes how many entities were refused while the missing tables were copied.
func (m *Mirror) Copied(refused int64) {
	for _, t := range m.tables {
		if t.Listing {
			t.Refused += refused
			return
		}
	}
}

// Run follows the tables, which have been copied, until ctx ends. It returns the totals of what was written, also with
// an error. If a table can no longer be followed, the error is a [remote.ErrMissed].
func (m *Mirror) Run(ctx context.Context) (progressfile.Totals, error) {
	for _, t := range m.tables {
		t.Listing = false
		if err := t.Write(t.file); err != nil {
			return m.totals, err
		}
	}
	m.rejected.Path = m.Rejects
	size := int64(0)
	if info, err := os.Stat(m.Rejects); err == nil {
		size = info.Size()
	}
	if err := m.rejected.Begin(size); err != nil {
		return m.totals, err
	}
	g, inner := errgroup.WithContext(ctx)
	for _, t := range m.tables {
		g.Go(func() error { return m.follow(inner, t) })
	}
	err := g.Wait()
	if e := m.rejected.Close(); err == nil {
		err = e
	}
	return m.totals, err
}

// follow follows one table.
func (m *Mirror) follow(ctx context.Context, t *followed) error {
	a := transfer.Apply{To: m.To, Table: t.Table, Source: t.Service, Connections: m.Connections, Before: func(ops []remote.Operation) error {
		if t.unmark(ops) { // stored before its entity is deleted, which may come back later
			return t.Write(t.file)
		}
		return nil
	}}
	for {
		page, err := m.From.Changes(ctx, t.Table, t.Position, m.Wait)
		if err == nil && (!t.checked || len(page.Events) > 0) {
			err = t.check(ctx, m.From, m.To)
			t.checked = true
		}
		if err != nil {
			return err
		}
		done, rejects, err := a.Page(ctx, page.Events)
		if e := m.note(t, &page, done, rejects); err == nil {
			err = e
		}
		if remote.TableGone(err) && t.Mark != nil {
			err = t.remade()
		}
		if err != nil {
			return err
		}
		t.Position = page.Next
		if err := t.Write(t.file); err != nil || m.Wait == 0 && len(page.Events) == 0 && !page.More {
			return err
		}
	}
}

// note counts the results of a page and stores the refused rows.
func (m *Mirror) note(t *followed, page *remote.Changes, done progressfile.Totals, rejects []rows.Reject) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Add(done)
	t.changes += int64(len(page.Events))
	t.Refused += int64(len(rejects))
	for _, r := range rejects {
		m.Tell(t.Table, r.Reason)
	}
	if err := m.rejected.Add(rejects); err != nil {
		return err
	}
	if err := m.rejected.Sync(); err != nil {
		return err
	}
	m.Progress(t.Table, page, t.changes)
	return nil
}
