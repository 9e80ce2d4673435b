package transfer

import (
	"context"
	"errors"
	"net/http"

	"edgetable/adapters/client/remote"
)

// createTable creates a table. made is false if the table already exists. A shared access signature for one table
// cannot create tables (status 403). The table may exist nevertheless, so createTable ignores this error, and the first
// write fails if it does not.
func createTable(ctx context.Context, c *remote.Client, table string) (made bool, err error) {
	made, err = c.CreateTable(ctx, table)
	if answer, ok := errors.AsType[*remote.Error](err); ok && answer.Status == http.StatusForbidden {
		return false, nil
	}
	return made, err
}
