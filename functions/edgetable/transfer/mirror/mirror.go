// Package mirror keeps copies of tables in another service up to date. It reads the changes of each table from its feed
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

// LongPoll is the maximum number of seconds for which the server delays a response while there are no changes. A
// command that waits longer says that it is waiting.
const LongPoll = 4

// Mirror applies the changes of tables to copies in another service.
type Mirror struct {
	From, To    *remote.Client
	Connections int
	Rejects     string // path of the file of rejects
	// Wait is the number of seconds for which the service may delay a response while there are no changes. 0 means that
	// Run returns when it has applied all existing changes.
	Wait int
	// Progress is called after each page has been written, with the number of changes of the table since the start.
	// Calls are serialized.
	Progress func(table string, page *remote.Changes, changes int64)
	OnReject func(table, reason string) // callback for each rejected row

	tables   []*followed
	mu       sync.Mutex // protects totals and rejected
	totals   progressfile.Totals
	rejected rows.RejectFile
}

type followed struct {
	State
	file     string
	changes  int64
	checked  bool   // true after this process has called check
	revision string // revision of the table's options at the last call of checkRule; "" if unknown
}

// Add adds a table, with the feed position in the given file. Without a file, the position is the current end of the
// feed, and the caller must then copy the table.
func (m *Mirror) Add(ctx context.Context, table, file string) error {
	t := &followed{State: State{Service: m.From.Endpoint().String(), Table: table}, file: file}
	known, err := t.Read(file)
	if err == nil && !known {
		var page remote.Changes
		page, err = m.From.Changes(ctx, table, "", 0)
		t.Position, t.Listing = page.Next, true
		if err == nil {
			t.revision, err = t.checkRule(ctx, m.From)
		}
	}
	m.tables = append(m.tables, t)
	return err
}

// Begin writes the state file of each table. It returns the tables that the caller must still copy.
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

// Refused returns the number of rejected entities in all runs, including the first copies of the tables.
func (m *Mirror) Refused() (n int64) {
	for _, t := range m.tables {
		n += t.Refused
	}
	return n
}

// Copied adds entities that were rejected in the first copies of the tables to the number of rejected entities.
func (m *Mirror) Copied(refused int64) {
	for _, t := range m.tables {
		if t.Listing {
			t.Refused += refused
			return
		}
	}
}

// Run applies changes until ctx is done or, if Wait is 0, up to the ends of the feeds. It returns the totals even with
// an error. [remote.ErrMissed] means that changes are missing.
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

func (m *Mirror) follow(ctx context.Context, t *followed) error {
	a := transfer.Apply{Target: m.To, Table: t.Table, Source: t.Service, Connections: m.Connections, BeforePage: func(ops []remote.Operation) error {
		// Clear Mark in the state file before operations that change the marked entity. Otherwise, after a crash, check
		// could conclude that the copy was deleted.
		if t.unmark(ops) {
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
		// Unless a rule hides entities, one check is enough for the pages up to the end of the feed.
		if hidden := hasExpired(page.Events); err == nil && (hidden || !page.More) {
			known := t.revision
			if t.revision, err = t.checkRule(ctx, m.From); err == nil && hidden && t.revision != known {
				continue // another rule than the recorded one may have hidden the entities, so read the page again
			}
		}
		if err != nil {
			return err
		}
		done, rejects, err := a.Page(ctx, page.Events)
		if e := m.recordPage(t, &page, done, rejects); err == nil {
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

// recordPage adds a page to the totals and stores its rejects.
func (m *Mirror) recordPage(t *followed, page *remote.Changes, done progressfile.Totals, rejects []rows.Reject) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Add(done)
	t.changes += int64(len(page.Events))
	t.Refused += int64(len(rejects))
	for _, r := range rejects {
		m.OnReject(t.Table, r.Reason)
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
