package transfer

import (
	"context"
	"errors"
	"net/http"

	"edgetable/adapters/client/remote"
)

// createTable creates a table. made is false if the table exists already. A shared access signature
// for one table cannot create tables, so createTable ignores the error 403. If the table is
// missing, the first write to the table fails.
func createTable(ctx context.Context, c *remote.Client, table string) (made bool, err error) {
	made, err = c.CreateTable(ctx, table)
	if answer, ok := errors.AsType[*remote.Error](err); ok && answer.Status == http.StatusForbidden {
		return false, nil
	}
	return made, err
}
