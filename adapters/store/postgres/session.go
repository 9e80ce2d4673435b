package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// warning returns the last warning of a connection as an error, and clears the warning.
func warning(c *pgconn.PgConn) error {
	text, ok := c.CustomData()[warningKey]
	if !ok {
		return nil
	}
	delete(c.CustomData(), warningKey)
	return fmt.Errorf("%w: %v", errWarned, text)
}
