package postgres

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// writeHere does the round of an idle lane for one write, on the goroutine of the caller.
// A goroutine of the lane would have to be woken, and then the caller by it: that was more
// than a quarter of what a lone write costs this process. If ctx ends while the caller awaits
// the answer, the caller leaves, and a goroutine of the store waits in its place.
func (s *Store) writeHere(ctx context.Context, l *lane[*write], w *write) {
	group, results := [1]*write{w}, [1]bool{}
	conclude := func(err error) {
		s.conclude(group[:], results[:], err)
		l.leave(&s.beside)
	}
	t, err := s.clock.next(ctx)
	if err != nil {
		conclude(err)
		return
	}
	w.ticks = t
	c, err := acquire(ctx, s.primary)
	if err != nil {
		conclude(err)
		return
	}
	w.claimed.Store(true)
	conn := c.Conn().PgConn()
	unwatch := s.watch(conn)
	end := func(a *answer, err error) {
		unwatch()
		if err == nil {
			err = a.err
		}
		if err == nil {
			err = warning(conn)
		}
		results[0] = a.wrote
		release(s.primary, c, err)
		conclude(err)
	}
	a := new(answer)
	err = interrupted(ctx, conn, func() error {
		if err := send(conn, w); err != nil {
			return err
		}
		a.begun = true
		return a.read(conn)
	})
	if a.begun && errors.Is(err, os.ErrDeadlineExceeded) {
		s.beside.Go(func() { end(a, a.read(conn)) })
		return
	}
	end(a, err)
}

// interrupted calls do, which uses a connection. When ctx ends, the wire of the connection
// fails with os.ErrDeadlineExceeded until do returns.
func interrupted(ctx context.Context, c *pgconn.PgConn, do func() error) error {
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.Conn().SetDeadline(time.Unix(1, 0)) // one that fails is closed
		close(set)
	})
	err := do()
	if !stop() {
		<-set
		_ = c.Conn().SetDeadline(time.Time{})
	}
	return err
}

// send sends one statement. A write has no results, so it does not ask for their types.
func send(c *pgconn.PgConn, w *write) error {
	f := c.Frontend()
	f.SendBind(&pgproto3.Bind{PreparedStatement: writes[w.form].alone.name, ParameterFormatCodes: formats, Parameters: w.args()})
	f.SendExecute(&pgproto3.Execute{})
	f.SendSync(&pgproto3.Sync{})
	return f.Flush()
}

// answer is what the database answers to one statement. It can be read in parts.
type answer struct {
	begun bool // the statement was sent
	wrote bool // it wrote its row
	err   error
}

// read reads until the end of the answer. An error of its own is one of the wire.
func (a *answer) read(c *pgconn.PgConn) error {
	for {
		m, err := c.ReceiveMessage(context.Background())
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.CommandComplete:
			a.wrote = pgconn.NewCommandTag(string(m.CommandTag)).RowsAffected() > 0
		case *pgproto3.ErrorResponse:
			a.err = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.ReadyForQuery:
			return nil
		}
	}
}
