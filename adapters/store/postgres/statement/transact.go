package statement

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Call is a statement with its arguments.
type Call struct {
	Prepared
	Args [][]byte
}

// With gives a statement its arguments.
func (s Prepared) With(args ...[]byte) Call { return Call{s, args} }

// Transact sends calls as one transaction and returns the number of rows that each of them wrote.
//
// The database receives all arguments before it runs the first call. Otherwise, a client that stops in the middle of
// sending would leave the rows of the first calls locked until its connection ends. The messages that run the calls
// are a few bytes each, and are sent last.
func Transact(c *pgconn.PgConn, calls []Call) (rows []int64, err error) {
	f := c.Frontend()
	for i, one := range calls {
		f.SendBind(&pgproto3.Bind{DestinationPortal: portal(i), PreparedStatement: one.Name, ParameterFormatCodes: Formats, Parameters: one.Args})
	}
	for i := range calls {
		f.SendExecute(&pgproto3.Execute{Portal: portal(i)})
	}
	f.SendSync(&pgproto3.Sync{})
	if err := f.Flush(); err != nil {
		return nil, err
	}
	for {
		m, e := c.ReceiveMessage(context.Background())
		if e != nil {
			return nil, e
		}
		switch m := m.(type) {
		case *pgproto3.CommandComplete:
			rows = append(rows, pgconn.NewCommandTag(string(m.CommandTag)).RowsAffected())
		case *pgproto3.ErrorResponse:
			err = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.ReadyForQuery:
			return rows, err
		}
	}
}

// portal names the portal of a call until the end of its transaction.
func portal(i int) string { return strconv.Itoa(i) }
