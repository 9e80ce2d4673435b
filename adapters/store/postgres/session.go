package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// warning returns the warning that a connection got, as an error, and forgets it.
func warning(c *pgconn.PgConn) error {
	text, ok := c.CustomData()[warned]
	if !ok {
		return nil
	}
	delete(c.CustomData(), warned)
	return fmt.Errorf("%w: %v", errWarned, text)
}
