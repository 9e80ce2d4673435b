package clients_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// wrongKey is valid base64, as an account key is, but it is the key of no account.
const wrongKey = "d3JvbmcgYnV0IHdlbGwtZm9ybWVkIGtleQ=="

func TestWrongKey(t *testing.T) {
	t.Parallel()
	var parts []string
	for part := range strings.SplitSeq(os.Getenv(connectionVariable), ";") {
		if strings.HasPrefix(part, "AccountKey=") {
			part = "AccountKey=" + wrongKey
		}
		parts = append(parts, part)
	}
	stranger, err := aztables.NewServiceClientFromConnectionString(strings.Join(parts, ";"), noRetries())
	if err != nil {
		t.Fatal(err)
	}
	there, ctx := newName(t), t.Context()
	service := newService(t)
	if _, err := service.CreateTable(ctx, there, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deleteTable(t, service, there) })

	for table, name := range map[string]string{"present table": there, "missing table": newName(t)} {
		client := stranger.NewClient(name)
		for operation, call := range map[string]func(context.Context) error{
			"list tables": func(ctx context.Context) error {
				_, err := stranger.NewListTablesPager(nil).NextPage(ctx)
				return err
			},
			"create": func(ctx context.Context) error { _, err := client.CreateTable(ctx, nil); return err },
			"delete": func(ctx context.Context) error { _, err := client.Delete(ctx, nil); return err },
			"add": func(ctx context.Context) error {
				_, err := client.AddEntity(ctx, entity(t, "p", "r", nil), nil)
				return err
			},
			"get": func(ctx context.Context) error { _, err := client.GetEntity(ctx, "p", "r", nil); return err },
			"query": func(ctx context.Context) error {
				_, err := client.NewListEntitiesPager(nil).NextPage(ctx)
				return err
			},
			"transaction": func(ctx context.Context) error {
				_, err := client.SubmitTransaction(ctx, inserts(t, 2), nil)
				return err
			},
		} {
			t.Run(table+"/"+operation, func(t *testing.T) {
				wantError(t, call(ctx), http.StatusForbidden, "AuthenticationFailed") // the server refuses the request before it looks up the table
			})
		}
	}
}
