// Package statement defines the statements that every connection of a store prepares, and sends them.
package statement

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

// Prepared is a statement that every connection has prepared. Its parameters and results have binary format.
type Prepared struct{ Name, SQL string }

// descriptions is the key of the descriptions of the prepared statements in a connection's custom data. pgx would
// otherwise request them for each use.
const descriptions = "descriptions"

// On returns the description of the prepared statement on the connection c.
func (s Prepared) On(c *pgconn.PgConn) *pgconn.StatementDescription {
	return c.CustomData()[descriptions].(map[string]*pgconn.StatementDescription)[s.Name]
}

// Query executes one statement. For each row, it calls the function row with the values, unless row is nil. The values
// are valid only until this call returns.
func Query(ctx context.Context, c *pgconn.PgConn, s Prepared, row func(v [][]byte) error, args ...[]byte) (rows int64, err error) {
	r := c.ExecStatement(ctx, s.On(c), args, Formats, Formats)
	for r.NextRow() {
		if row != nil && err == nil {
			err = row(r.Values())
		}
	}
	tag, end := r.Close()
	if end != nil {
		return 0, end
	}
	return tag.RowsAffected(), err
}
