package table

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"edgetable/core/edm"
)

// Service implements operations on tables and entities over a Store. It is stateless, so that several Services can use
// one store. It is safe for concurrent use.
type Service struct {
	*shared
	cost *Cost // sum of the costs, or nil if costs are not counted
}

// shared holds the fields that a Service and its Metered copies share.
type shared struct {
	store  Store
	now    func() edm.Ticks
	rand   func() uint64
	budget Budget
}

// Options configure a [Service].
type Options struct {
	// Now returns the wall-clock time. It limits the duration of a page. Timestamps come from the store's clock.
	Now func() edm.Ticks
	// Rand returns random bits for incarnations and nonces.
	Rand func() uint64
	// Budget limits one page of a query. A field that is 0 selects its default.
	Budget Budget
}

// Budget limits one page of a query, in addition to the maximum of 1000 entities.
type Budget struct {
	Bytes     int       // maximum bytes of keys and properties on the page; the default is 4 MiB
	ScanBytes int       // maximum bytes examined for the page; the default is 256 MiB
	Time      edm.Ticks // maximum duration of the query; the default is 5 s
}

// MostShown returns the maximum length in bytes of an encoded page with several entities: twice Budget.Bytes. A format
// may encode one stored byte as up to eight bytes.
func (s *Service) MostShown() int { return 2 * s.budget.Bytes }

// New returns a Service that uses the given store.
func New(store Store, o Options) *Service {
	o.Budget.Bytes = cmp.Or(o.Budget.Bytes, 4<<20)
	o.Budget.ScanBytes = cmp.Or(o.Budget.ScanBytes, 256<<20)
	o.Budget.Time = cmp.Or(o.Budget.Time, 5*edm.TicksPerSecond)
	return &Service{shared: &shared{store: store, now: o.Now, rand: o.Rand, budget: o.Budget}}
}

// Metered returns a Service for the same store that adds its costs to c. The new Service is not safe for concurrent
// use.
func (s *Service) Metered(c *Cost) Service {
	return Service{s.shared, c}
}

// startCall returns the store for one call. The caller must call finishCall after the call has returned.
func (s *Service) startCall() Store {
	if c := s.cost; c != nil {
		c.Calls++
		if c.Timed {
			c.began = s.now()
		}
	}
	return s.store
}

// finishCall adds the call, with the rows and bytes that the store examined, to the cost.
func (s *Service) finishCall(rows, size int) {
	if c := s.cost; c != nil {
		c.ScannedRows += rows
		c.ScannedBytes += size
		if c.Timed {
			c.Time += s.now() - c.began
		}
	}
}

// Name identifies a table by account and table name. The case of the table name does not matter.
type Name struct{ Account, Table string }

// Key returns the key of the table's record, by which stores identify the table.
func (n Name) Key() RecordKey { return RecordKey{n.Account, FoldName(n.Table)} }

// check returns an error if no table can have this name. The service's tables $Metrics…, which do not exist here, are
// reported as TableNotFound.
func (n Name) check() error {
	if strings.HasPrefix(n.Table, "$Metrics") {
		return TableNotFound.Err()
	}
	return CheckTableName(n.Table)
}

func (s *Service) nonce() uint64 { return s.rand() | 1 }

// home returns the name of the store, for messages.
func (s *Service) home() string {
	if d, ok := As[Declaring](s.store); ok {
		name, _ := d.Declares()
		return name
	}
	return "the store of this server"
}

// protocolError converts an error that the store returned for an operation on entities into an error of the protocol.
func protocolError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, ErrNoTable):
		return TableNotFound.Err()
	case errors.Is(err, ErrNoEntity):
		return ResourceNotFound.Err()
	case errors.Is(err, ErrExists):
		return EntityAlreadyExists.Err()
	case errors.Is(err, ErrChanged):
		return UpdateConditionNotSatisfied.Err()
	case errors.Is(err, ErrBusy):
		return ServerBusy.Because(err)
	case errors.Is(err, ErrMemoryFull):
		e := ServerBusy.With("The server's memory for tables is full. Writes are refused until memory is free again; reads and deletes work. Delete entities or tables, or give the server more memory.")
		e.cause = err
		return e
	case errors.Is(err, ErrFull):
		e := ServerBusy.With("The server's disk is full. Writes are refused until the disk has free space; reads work. Free space on the disk, or make it larger. Until no space at all is left, you can also delete entities or tables.")
		e.cause = err
		return e
	case errors.Is(err, ErrDamaged):
		e := InternalError.With(DamagedText)
		e.cause = err
		return e
	case errors.Is(err, ErrUnsupported):
		return NotImplemented.Err()
	case errors.Is(err, ErrKeyTooLong):
		return KeyValueTooLarge.Err()
	case errors.Is(err, ErrNoFeed):
		return FeedNotEnabled.Err()
	case errors.Is(err, ErrFeedExpired):
		return ChangesExpired.Err()
	case errors.Is(err, ErrFeedEnded):
		return FeedEnded.Err()
	case errors.Is(err, ErrHistory):
		return HistoryChanged.Err()
	case errors.Is(err, ErrUnknown):
		return OperationTimedOut.Because(err)
	case errors.Is(err, context.Canceled):
		return OperationTimedOut.Err() // the client has disconnected and does not see the error
	case errors.Is(err, context.DeadlineExceeded):
		return OperationTimedOut.Because(err)
	}
	return InternalError.Because(err)
}
