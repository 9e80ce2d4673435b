package postgres

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"edgetable/adapters/store/postgres/feed"
	"edgetable/adapters/store/postgres/known"
	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/promise"
	"edgetable/adapters/store/postgres/ruled"
	"edgetable/adapters/store/postgres/slot"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Store is a [table.Store] on a PostgreSQL database. [Open] returns a Store.
type Store struct {
	Options
	primary *pgxpool.Pool
	replica *replica // nil if there is no replica
	clock   *slot.Clock
	now     func() edm.Ticks
	name    string // application_name of the connections

	connections *lend.Lender // shares the connections to the primary

	rounds   rounds
	getQueue getQueue
	known    known.States // entity states that merges use
	ruled    ruled.Tables
	feeds    *feed.Feeds
	counters counters
	clockOff atomic.Bool
	promise  *promise.Settings // settings of the database when the store was opened
	settings atomic.Pointer[promise.Settings]
	gate     chan struct{} // limits the number of new connections that wait for a standby at the same time; see catchUp
	sessions lend.Sessions
	waited   waitedProcesses
	config   *pgxpool.Config
	pulsing  sync.Mutex
	pulse    *pulse

	ctx        context.Context // cancelled by Close
	stop       context.CancelFunc
	background sync.WaitGroup
}

var (
	_ table.Store      = (*Store)(nil)
	_ table.Replicated = (*Store)(nil)
	_ table.Declaring  = (*Store)(nil)
	_ table.Sharing    = (*Store)(nil)
)
