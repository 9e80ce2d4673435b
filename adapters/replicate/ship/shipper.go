package ship

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// Options configure a Shipper.
type Options struct {
	Place    *repository.Repository
	Named    string // name by which the backup location is recognized
	Store    Store
	Primary  *PrimaryStatus // record that says whether the store was replaced
	Source   string         // host and data directory of this process
	Keys     []string       // age public keys with which the pieces of the log are encrypted
	KeepLogs int64          // maximum size of the log files that the store keeps for shipping
	Log      *slog.Logger
	// Backup requests a backup, and returns its span before the upload has finished. The span says which commits the
	// backup contains.
	Backup func(ctx context.Context) (*repository.LogSpan, error)
	// Wake makes the backup schedule check whether a backup is due. It is called when a timeline was begun, and when
	// MayBackUp becomes true.
	Wake     func()
	TakeOver string // the command with which an operator makes this store the owner of the backup location
}

// Shipper copies the log of a store to the backup location, in objects called pieces. After a start, it continues after
// the newest piece there.
type Shipper struct {
	Options
	now   func() time.Time
	again chan struct{} // channel that signals that the store owns the backup location again

	reader   commitlog.Reader        // reader of the log; nil until the shipper knows from which commit to continue
	piece    *repository.PieceWriter // the piece that is being filled: it has the commits above s.from up to s.packed
	began    time.Time               // when the current piece of the log was begun
	from     edm.Ticks
	packed   edm.Ticks
	sealed   *repository.Sealed // the piece of the log that is being uploaded; retries send the same bytes
	to       edm.Ticks          // the backup location has the log up to this number
	term     commitlog.Term     // term of this process in the location (a term is one run of a server that ships its log)
	timeline string             // timeline (history of commits) to which the term belongs
	joined   atomic.Bool        // whether the backup location has a record that this process ships the log
	base     edm.Ticks          // commit number at which the log continues a backup of this process; 0 if it continues the shipped log
	searched time.Time          // when the shipper last looked for a hole in the shipped log
	spans    repository.Spans
	looked   time.Time // when the location last confirmed that no other store has replaced this store
	lost     bool      // whether log files were discarded before they were shipped, and no backup was made after that
	gap      bool      // whether the gap in the shipped log was reported
	since    edm.Ticks // number above which the log files had all commits at the first call of shipDurable; 0 before this call
	begins   bool      // whether the next piece of the log does not continue an earlier piece
	synced   edm.Ticks // value of Synced in the last piece of the log: all writes before this time are shipped

	news  bool        // whether the next piece of the log contains a client's commit, not only commits that the shipper made
	pause time.Time   // when a piece of the log with a client's commit was last shipped
	said  int         // number of empty commits that the shipper has made after the last piece with a client's commit
	level atomic.Bool // whether the backup location has all commit numbers that were issued before this start

	mu     sync.Mutex
	status Status
}

// New returns a Shipper. It ships nothing until [Shipper.Serve] runs.
func New(o Options) *Shipper {
	return &Shipper{Options: o, now: time.Now, again: make(chan struct{}, 1), spans: repository.Spans{}, status: Status{CaughtUp: time.Now()}}
}

// Status is the state of log shipping, for metrics.
type Status struct {
	CaughtUp    time.Time // when the backup location last had all commits, or when the server started
	LastShipped time.Time // when the newest piece of the log was uploaded; zero if no piece was uploaded since the start
	Waiting     int64     // bytes of the log that are not in the backup location yet
	Pieces      int64     // number of log pieces uploaded since the start
	Failures    int64
	GivenUp     int64 // number of times that log files were discarded before they were shipped; each time a new backup was needed
	Replaced    bool  // whether another store has taken over the backup location

	written int64 // number of bytes written to the log up to the time CaughtUp
}

// MayBackUp reports whether the backup location has all commit numbers that were issued before this start. Until then,
// scheduled backups are not permitted.
func (s *Shipper) MayBackUp() bool { return s.level.Load() }

// Resume is called after the store was promoted, and after the store became the owner of the backup location again.
func (s *Shipper) Resume() {
	select {
	case s.again <- struct{}{}:
	default: // an earlier signal is still pending
	}
}

func (s *Shipper) update(do func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.status)
}

// Status returns the state of log shipping.
func (s *Shipper) Status() Status {
	s.mu.Lock()
	st := s.status
	s.mu.Unlock()
	written, kept := s.Store.LogWritten()
	st.Waiting = written - st.written
	if st.written == 0 { // the backup location has not responded since the start
		st.Waiting += kept
	}
	return st
}
