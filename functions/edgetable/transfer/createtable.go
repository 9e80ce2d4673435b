package transfer

import (
	"context"
	"errors"
	"net/http"

	"edgetable/adapters/client/remote"
)

// createTable creates a table. It returns false if the table already exists, or if the credentials do not permit
// creating it.
func createTable(ctx context.Context, c *remote.Client, table string) (made bool, err error) {
	made, err = c.CreateTable(ctx, table)
	// A shared access signature for one table does not permit creating this table. If the table does not exist, the
	// first write fails.
	if answer, ok := errors.AsType[*remote.Error](err); ok && answer.Status == http.StatusForbidden {
		return false, nil
	}
	return made, err
}
