package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// errWarned means that the database carried a write out with a warning: a wait for a
// standby was cancelled by somebody. The write is visible, and a failover may lose it.
var errWarned = errors.New("the database warned")

// warning returns the warning that a connection got, as an error, and forgets it.
func warning(c *pgconn.PgConn) error {
	text, ok := c.CustomData()[warned]
	if !ok {
		return nil
	}
	delete(c.CustomData(), warned)
	return fmt.Errorf("%w: %v", errWarned, text)
}
