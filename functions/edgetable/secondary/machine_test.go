package secondary_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/functions/edgetable/backup"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/secondary"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/must"
)

var people = table.Name{Account: "acme", Table: "People"}

// machine is a data directory with a server. The server has all parts of a real one except the sockets.
type machine struct {
	w       *scenario
	name    string
	dir     string
	follows bool         // whether the server is started with --secondary-of
	copied  bool         // dir is a copy of another machine's directory
	gap     bool         // the log of this machine may have a gap
	ahead   atomic.Int64 // nanoseconds by which the clock for Timestamps is fast

	store    *pebblestore.Store // nil if the server is stopped, or has no store yet
	embedded *stores.Checkpoints
	follower *follow.Follower
	backups  *backup.Schedule
	ctx      context.Context // context of the server; nil if the server is stopped
	end      context.CancelCauseFunc
	jobs     sync.WaitGroup
}

func (m *machine) String() string { return m.name }

// parse parses flags like a command line.
func parse(t *testing.T, register func(*pflag.FlagSet), args ...string) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	register(f)
	must.OK(t, f.Parse(args))
}

// start starts the server. accept has the meaning of the flag --accept-damage.
func (m *machine) start(accept bool) (err error) {
	w := m.w
	ctx, end := context.WithCancelCause(context.Background())
	log := slog.New(slog.NewTextHandler(lines(func(s string) { w.note("%s: %s", m, s) }), nil))
	var to backup.Flags
	args := []string{"--backup-to", w.place, "--backup-log", "1s", "--backup-every", "30s"}
	parse(w.t, to.Register, append(args, w.keys...)...)
	var of secondary.Flags
	parse(w.t, of.Register, "--secondary-of", w.place, "--secondary-max-lag", "5s", "--secondary-identity", w.identities)
	keep := to.KeepLogs()
	if m.follows {
		keep = -1
		if m.follower, err = of.Build(ctx, m.dir, log, end); err != nil {
			return err
		}
	}
	m.ctx, m.end = ctx, end
	if m.follower != nil { // whether the server must first build its store
		m.jobs.Go(func() { m.follower.Serve(ctx) })
		return nil
	}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	m.store, err = pebblestore.Open(pebblestore.Options{
		Dir: m.dir, DiskReserve: -1, KeepLogs: keep, AcceptDamage: accept, Logf: func(string, ...any) {},
		Now:   func() edm.Ticks { return edm.TicksOf(time.Now().Add(time.Duration(m.ahead.Load()))) },
		Fatal: func(err error) { w.t.Errorf("%s: %v", m, err) },
	})
	if err != nil {
		return err
	}
	if _, follows, err := m.store.Position(); err != nil || follows && !m.follows {
		return cmpErr(err, "it belongs to a secondary")
	}
	m.embedded = stores.NewCheckpoints(m.store, log)
	if m.follows {
		if m.follower, err = of.Open(ctx, m.store, m.dir, log, end); err != nil {
			return err
		}
		if m.follower == nil {
			if err := m.store.KeepLogs(to.KeepLogs()); err != nil {
				return err
			}
		}
	}
	if m.backups, err = backup.Open(ctx, &to, m.dir, m.embedded, log); err != nil {
		return err
	}
	m.backups.Paused = m.follower.IsFollowing
	m.backups.Admit(ctx)
	m.jobs.Go(func() { m.backups.Serve(ctx) })
	m.jobs.Go(func() { m.backups.ServeLog(ctx) })
	if m.follower != nil {
		m.jobs.Go(func() { m.follower.Serve(ctx) })
	}
	return nil
}

func cmpErr(err error, text string) error {
	if err != nil {
		return err
	}
	return errors.New(text)
}

// close stops the server. It does not ship the rest of the log.
func (m *machine) close() {
	if m.ctx == nil {
		return
	}
	m.end(errors.New("stopped"))
	m.jobs.Wait()
	if m.store != nil {
		must.OK(m.w.t, m.store.Close())
	}
	m.store, m.embedded, m.follower, m.backups, m.ctx = nil, nil, nil, nil, nil
}

// stop stops the server as SIGTERM does.
func (m *machine) stop() {
	m.end(errors.New("stopped"))
	m.jobs.Wait()
	if m.backups != nil {
		m.backups.EndLog()
	}
	m.close()
}

// kill stops the server as SIGKILL does. The data directory is then replaced by a copy that was made
// before the store was closed.
func (m *machine) kill() {
	m.end(errors.New("killed"))
	m.jobs.Wait()
	left := m.copyOf()
	m.close()
	must.OK(m.w.t, os.RemoveAll(m.dir))
	m.dir = left
}

// copyOf copies the data directory in its current state, and returns the path of the copy.
func (m *machine) copyOf() string {
	m.w.copies++
	to := filepath.Join(m.w.dir, fmt.Sprint("copy", m.w.copies))
	must.OK(m.w.t, os.CopyFS(to, os.DirFS(m.dir)))
	return to
}

// leads reports whether the server accepts writes.
func (m *machine) leads() bool {
	return m.store != nil && !m.follower.IsFollowing() && !m.embedded.Primary.Fenced()
}

// well reports whether the server is a primary that no other store has replaced.
func (m *machine) well() bool {
	return m.store != nil && !m.follower.IsFollowing() && m.embedded.Primary.Replaced() == nil
}

// write writes the entity with the number n.
func (m *machine) write(n int) error {
	properties := edm.AppendProperty(nil, "N", edm.String(fmt.Sprint(n)))
	_, err := m.store.Commit(m.ctx, people.Key(), []table.Mutation{{Kind: table.Put, Key: key.Append(nil, "p", fmt.Sprintf("%06d", n)), Properties: properties}})
	return err
}

// numbers is a set of entities. The keys of entities are numbers.
type numbers map[int]bool

// lacks returns the numbers that are in the argument but not in n.
func (n numbers) lacks(other numbers) (list []int) {
	for i := range other {
		if !n[i] {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	return list
}

// read returns the set of the entities in a store.
func read(t *testing.T, s *pebblestore.Store) numbers {
	all := numbers{}
	page, err := s.Scan(context.Background(), people.Key(), table.ScanRequest{Ranges: []key.Range{{}}})
	if errors.Is(err, table.ErrNoTable) {
		return all
	}
	must.OK(t, err)
	for _, r := range page.Rows {
		var n int
		_, row := key.Decode(r.Key)
		_, err := fmt.Sscanf(row, "%06d", &n)
		must.OK(t, err)
		all[n] = true
	}
	return all
}

// has returns the set of the entities in the store of a machine, even if the server is
// stopped.
func (m *machine) has() numbers {
	if m.store != nil {
		return read(m.w.t, m.store)
	}
	return readDirectory(m.w.t, m.dir)
}

func readDirectory(t *testing.T, dir string) numbers {
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir, DiskReserve: -1, KeepLogs: -1, Logf: func(string, ...any) {}})
	must.OK(t, err)
	defer s.Close()
	return read(t, s)
}

// command runs a command such as 'edgetable backup' or 'edgetable promote', and returns its output.
func command(args ...string) (said string, err error) {
	out := new(strings.Builder)
	terminal := &cli.Terminal{Environment: func(string) string { return "" }, In: strings.NewReader(""), Out: out, Err: out}
	root := &cobra.Command{Use: "edgetable", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(backup.Commands(terminal)...)
	root.AddCommand(secondary.Commands(terminal)...)
	root.SetArgs(args)
	root.SetOut(io.Discard)
	err = root.ExecuteContext(context.Background())
	return fmt.Sprint(out, err), err
}

// lines is a writer for logs that passes each written line to a function.
type lines func(string)

func (l lines) Write(b []byte) (int, error) {
	l(strings.TrimSpace(string(b)))
	return len(b), nil
}
