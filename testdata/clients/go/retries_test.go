package clients_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// impatient returns a client whose requests the SDK retries three times, as by default, but without the long delays.
// If a response has Retry-After, the SDK waits for that time.
func (s started) impatient(t *testing.T) *aztables.ServiceClient {
	t.Helper()
	return s.owner(t, s.options(policy.RetryOptions{RetryDelay: time.Millisecond}))
}

// startWithRules starts a server with rules for simulated faults, and creates a table.
func startWithRules(t *testing.T, rules ...string) *aztables.Client {
	t.Helper()
	var flags []string
	for _, rule := range rules {
		flags = append(flags, "--chaos", rule)
	}
	table := start(t, flags...).impatient(t).NewClient("orders")
	if _, err := table.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return table
}

func TestRetrySucceeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, rule string
		do        func(t *testing.T, table *aztables.Client) error
	}{
		{"busy", "operation=InsertEntity count=1 fault=503", insert},
		{"broken", "operation=InsertEntity count=3 fault=500", insert},
		{"connection reset", "operation=InsertEntity count=1 fault=reset", insert},
		{"busy query", "operation=QueryEntities count=1 fault=503", func(t *testing.T, table *aztables.Client) error {
			_, err := table.NewListEntitiesPager(nil).NextPage(t.Context())
			return err
		}},
		{"reset query", "operation=QueryEntities count=3 fault=reset", func(t *testing.T, table *aztables.Client) error {
			_, err := table.NewListEntitiesPager(nil).NextPage(t.Context())
			return err
		}},
		{"broken transaction", "operation=EntityGroupTransaction count=2 fault=500", func(t *testing.T, table *aztables.Client) error {
			_, err := table.SubmitTransaction(t.Context(), inserts(t, 2), nil)
			return err
		}},
		{"transaction, connection reset", "operation=EntityGroupTransaction count=1 fault=reset", func(t *testing.T, table *aztables.Client) error {
			_, err := table.SubmitTransaction(t.Context(), inserts(t, 2), nil)
			return err
		}},
		{"upsert, reply lost", "operation=InsertOrReplaceEntity count=1 fault=lost-reply", func(t *testing.T, table *aztables.Client) error {
			_, err := table.UpsertEntity(t.Context(), entity(t, "p", "0001", nil), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
			return err
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			if err := c.do(t, startWithRules(t, c.rule)); err != nil {
				t.Error(err)
			}
		})
	}
}

func insert(t *testing.T, table *aztables.Client) error {
	_, err := table.AddEntity(t.Context(), entity(t, "p", "0001", nil), nil)
	return err
}

func TestRetryEnds(t *testing.T) {
	t.Parallel()
	table := startWithRules(t, "operation=InsertEntity fault=500")
	wantError(t, insert(t, table), http.StatusInternalServerError, "InternalError")
	wantRows(t, list(t, table, nil))
}

// TestRetryAfterLostReply checks that a program gets a conflict if the service applied its operation but the reply was
// lost: the SDK repeats the request, which conflicts with the first attempt. The program must read the entity to find
// out that its own request wrote the entity.
func TestRetryAfterLostReply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, operation string
		do             func(t *testing.T, table *aztables.Client) error
		status         int
		code           string
		rows           []string // expected row keys in the table at the end
	}{
		{"insert", "InsertEntity", insert, http.StatusConflict, "EntityAlreadyExists", []string{"0001", "there"}},
		{"delete", "DeleteEntity", func(t *testing.T, table *aztables.Client) error {
			_, err := table.DeleteEntity(t.Context(), "p", "there", nil)
			return err
		}, http.StatusNotFound, "ResourceNotFound", []string{}},
		{"create table", "CreateTable", func(t *testing.T, table *aztables.Client) error {
			_, err := table.CreateTable(t.Context(), nil)
			return err
		}, http.StatusConflict, "TableAlreadyExists", []string{}},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			table := start(t, "--chaos", "operation="+c.operation+" count=1 fault=lost-reply").impatient(t).NewClient("orders")
			if c.operation != "CreateTable" {
				if _, err := table.CreateTable(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				upsert := &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace} // an upsert, because no rule makes upserts fail
				if _, err := table.UpsertEntity(t.Context(), entity(t, "p", "there", nil), upsert); err != nil {
					t.Fatal(err)
				}
			}
			wantError(t, c.do(t, table), c.status, c.code)
			wantRows(t, list(t, table, nil), c.rows...)
		})
	}
	t.Run("update with a condition", func(t *testing.T) {
		t.Parallel()
		table := startWithRules(t, "operation=UpdateEntity count=1 fault=lost-reply")
		etag := add(t, table, "p", "there", fields{"N": 1})
		_, err := table.UpdateEntity(t.Context(), entity(t, "p", "there", fields{"N": 2}),
			&aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace, IfMatch: &etag})
		wantError(t, err, http.StatusPreconditionFailed, "UpdateConditionNotSatisfied")
		if n := get(t, table, "p", "there")["N"]; n != 2.0 {
			t.Errorf("N: got %v; the first try had set it", n)
		}
	})
	t.Run("transaction", func(t *testing.T) {
		t.Parallel()
		table := startWithRules(t, "operation=EntityGroupTransaction count=1 fault=lost-reply")
		_, err := table.SubmitTransaction(t.Context(), inserts(t, 2), nil)
		wantFailedPart(t, err, "409", "EntityAlreadyExists", "0:")
		wantRows(t, list(t, table, nil), "0000", "0001")
	})
}

// TestRetryBeyondLimits sends fourteen inserts at once, with a limit of five per second. The server asks some clients
// to retry after a second, some of them twice, and all inserts succeed in the end.
func TestRetryBeyondLimits(t *testing.T) {
	t.Parallel()
	server := start(t, "--limits", "account=1000,partition=5")
	table := server.impatient(t).NewClient("orders")
	if _, err := table.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	once := server.owner(t, server.options(policy.RetryOptions{MaxRetries: -1})).NewClient("orders")
	const count = 14
	refused := make([]error, count)
	var wg sync.WaitGroup
	for i := range count {
		wg.Go(func() {
			_, refused[i] = once.AddEntity(t.Context(), entity(t, "p", fmt.Sprintf("%04d", i), nil), nil)
			if refused[i] != nil {
				if _, err := table.AddEntity(t.Context(), entity(t, "p", fmt.Sprintf("%04d", i), nil), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	err := errors.Join(refused...)
	wantError(t, err, http.StatusServiceUnavailable, "ServerBusy")
	if got := len(list(t, table, nil)); got != count {
		t.Errorf("stored %d entities, want %d", got, count)
	}
}
