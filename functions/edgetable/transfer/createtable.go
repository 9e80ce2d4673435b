package transfer

import (
	"context"
	"errors"
	"net/http"

	"edgetable/adapters/client/remote"
)

// createTable creates a table. If the table exists already, the result made is false. A shared access
// signature for one table cannot create tables, and the service answers 403. createTable then returns
// no error, because the table may exist. If the table is missing, the first write fails.
func createTable(ctx context.Context, c *remote.Client, table string) (made bool, err error) {
	made, err = c.CreateTable(ctx, table)
	if answer, ok := errors.AsType[*remote.Error](err); ok && answer.Status == http.StatusForbidden {
		return false, nil
	}
	return made, err
}
