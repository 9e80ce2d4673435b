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

// With returns a Call of the statement with the given arguments.
func (s Prepared) With(args ...[]byte) Call { return Call{s, args} }

// Result is the result of a call.
type Result struct {
	Rows    int64   // number of rows that the call wrote
	Written []int64 // values that a statement of ManyWrites returned: the Timestamps of the written rows
}

// Transact sends calls as one transaction and returns their results.
//
// It sends all arguments first, and then the short messages that execute the calls. A client that stops while it is
// sending arguments therefore does not keep rows locked.
func Transact(c *pgconn.PgConn, calls []Call) (results []Result, err error) {
	f := c.Frontend()
	for i, one := range calls {
		f.SendBind(&pgproto3.Bind{DestinationPortal: portal(i), PreparedStatement: one.Name, ParameterFormatCodes: Formats, Parameters: one.Args, ResultFormatCodes: Formats})
	}
	for i := range calls {
		f.SendExecute(&pgproto3.Execute{Portal: portal(i)})
	}
	f.SendSync(&pgproto3.Sync{})
	if err := f.Flush(); err != nil {
		return nil, err
	}
	var result Result
	for {
		m, e := c.ReceiveMessage(context.Background())
		if e != nil {
			return nil, e
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			result.Written = append(result.Written, Number(m.Values[0]))
		case *pgproto3.CommandComplete:
			result.Rows = pgconn.NewCommandTag(string(m.CommandTag)).RowsAffected()
			results = append(results, result)
			result = Result{}
		case *pgproto3.ErrorResponse:
			err = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.ReadyForQuery:
			return results, err
		}
	}
}

// portal returns the name of the portal for the i-th call. PostgreSQL closes a portal at the end of the transaction.
func portal(i int) string { return strconv.Itoa(i) }
