package clients_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// TestRetryAtSecondary checks that reads at the secondary succeed after the primary was killed. The SDK knows
// only one endpoint, so a program needs a second client for the secondary.
func TestRetryAtSecondary(t *testing.T) {
	t.Parallel()
	key, folder := newKey(t), t.TempDir()
	place := filepath.Join(folder, "place")
	primary := startWith(t, key, "--data", filepath.Join(folder, "primary"), "--backup-to", place, "--backup-log", "100ms")
	secondary := startWith(t, key, "--data", filepath.Join(folder, "secondary"), "--secondary-of", place, "--secondary-max-lag", "6s")
	first := primary.impatient(t).NewClient("orders")
	service := with(secondary.account, func(a *account) { a.endpoint = a.secondary() }).owner(t, secondary.options(policy.RetryOptions{MaxRetries: -1}))
	second := service.NewClient("orders")
	if _, err := first.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	upsert := func(client *aztables.Client, row string) error {
		_, err := client.UpsertEntity(t.Context(), entity(t, "p", row, fields{"N": 1}), nil)
		return err
	}
	written := time.Now()
	for last := written; !last.After(written); { // write repeatedly, because a primary sends its log only after writes
		if end, ok := t.Deadline(); ok && time.Until(end) < 10*time.Second {
			t.Fatal("the secondary does not follow")
		}
		if err := upsert(first, "there"); err != nil {
			t.Fatal(err)
		}
		response, err := service.GetStatistics(t.Context(), nil)
		if err != nil { // the secondary closes all connections when it has built its store
			continue
		}
		if at := response.GeoReplication.LastSyncTime; at != nil {
			last = *at
		}
	}

	primary.kill(t)
	if _, err := first.GetEntity(t.Context(), "p", "there", nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the primary answers: %v", err)
	}
	if n := get(t, second, "p", "there")["N"]; n != 1.0 {
		t.Errorf("N: got %v", n)
	}
	wantRows(t, list(t, second, nil), "there")
	wantError(t, upsert(second, "new"), http.StatusForbidden, "InsufficientAccountPermissions")
}
