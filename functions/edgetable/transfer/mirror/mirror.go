// Package mirror keeps tables of one service as those of another, by the feeds of their changes (docs/feed.md).
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

// Mirror follows tables.
type Mirror struct {
	From, To    *remote.Client
	Connections int
	Rejects     string // file
	// Wait is for how many seconds a request may wait for changes; 0 ends the work when all are written that there are.
	Wait int
	// Progress is told of each page of a table that was written, and of how many changes there were since the start. It is
	// not called twice at the same time.
	Progress func(table string, page *remote.Changes, changes int64)
	Refused  func(table, reason string)

	tables   []*followed
	mu       sync.Mutex // of what follows
	totals   progressfile.Totals
	rejected rows.RejectFile
}

// followed is a table.
type followed struct {
	State
	file    string
	changes int64
}

// Add finds from where a table is to be followed: a file has the position, or it is now. The position of a table that is yet to
// be copied is taken before the copy, so that nothing is missed between them.
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

// Begin writes the positions that Add has found, and returns the tables that are yet to be copied.
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

// Run follows the tables, which have been copied, until ctx ends. It returns what was written, also with an error. A table that cannot be
// followed any more is a [remote.ErrMissed].
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
	a := transfer.Apply{To: m.To, Table: t.Table, Source: t.Service, Connections: m.Connections}
	for {
		page, err := m.From.Changes(ctx, t.Table, t.Position, m.Wait)
		if err != nil {
			return err
		}
		done, rejects, err := a.Page(ctx, page.Events)
		if e := m.note(t, &page, done, rejects); err == nil {
			err = e
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

// note counts what a page did, and keeps what was refused.
func (m *Mirror) note(t *followed, page *remote.Changes, done progressfile.Totals, rejects []rows.Reject) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Add(done)
	t.changes += int64(len(page.Events))
	for _, r := range rejects {
		m.Refused(t.Table, r.Reason)
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
