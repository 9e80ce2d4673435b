package clients_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// TestOneCreatorWins checks that, if several clients create the same table or entity at the same time, one succeeds and
// the others get a conflict.
func TestOneCreatorWins(t *testing.T) {
	t.Parallel()
	service, name := newService(t), newName(t)
	client := service.NewClient(name)
	t.Cleanup(func() { deleteTable(t, service, name) })
	for _, test := range []struct {
		code   string
		create func() error
	}{
		{"TableAlreadyExists", func() error { _, err := client.CreateTable(t.Context(), nil); return err }},
		{"EntityAlreadyExists", func() error {
			_, err := client.AddEntity(t.Context(), entity(t, "p", "r", nil), nil)
			return err
		}},
	} {
		var (
			group   sync.WaitGroup
			winners atomic.Int32
		)
		for range 8 {
			group.Go(func() {
				if err := test.create(); err != nil {
					wantError(t, err, http.StatusConflict, test.code)
					return
				}
				winners.Add(1)
			})
		}
		group.Wait()
		if n := winners.Load(); n == 0 || n > 1 && lastWriteWins == 0 {
			t.Errorf("%s: %d succeeded, want 1", test.code, winners.Load())
		}
	}
}

// TestTransactionsAreSeenWhole checks that readers see all effects of a transaction or none. If the environment says
// that the store cannot guarantee this, a reader may see effects of two transactions, but at the end the entities must
// be those of one transaction.
func TestTransactionsAreSeenWhole(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	write := func(name string) error {
		_, err := client.SubmitTransaction(t.Context(), []aztables.TransactionAction{
			action(t, aztables.TransactionTypeInsertReplace, "left", fields{"By": name}),
			action(t, aztables.TransactionTypeAdd, name, nil),
			action(t, aztables.TransactionTypeInsertReplace, "right", fields{"By": name}),
		}, nil)
		return err
	}
	if err := write("first"); err != nil {
		t.Fatal(err)
	}
	const writers, rounds = 8, 10
	type half struct{ By string }
	filter := "PartitionKey eq 'p' and (RowKey eq 'left' or RowKey eq 'right')"
	halves := func() (left, right half, err error) {
		page, err := client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}).NextPage(t.Context())
		if err == nil && len(page.Entities) != 2 {
			err = fmt.Errorf("got %d entities", len(page.Entities))
		}
		if err == nil {
			err = errors.Join(json.Unmarshal(page.Entities[0], &left), json.Unmarshal(page.Entities[1], &right))
		}
		return left, right, err
	}
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for round := range rounds {
				if err := write(fmt.Sprintf("by %d in %d", writer, round)); err != nil {
					t.Error(err)
					return
				}
				left, right, err := halves()
				if err != nil {
					t.Error(err)
					return
				}
				if left != right && tornPages == 0 && lastWriteWins == 0 {
					t.Errorf("left is %q, right is %q", left.By, right.By)
				}
			}
		})
	}
	group.Wait()
	if left, right, err := halves(); err != nil || left != right && lastWriteWins == 0 {
		t.Errorf("at the end left is %q, right is %q, %v", left.By, right.By, err)
	}
	if got, want := len(list(t, client, nil)), 3+writers*rounds; got != want {
		t.Errorf("got %d entities, want %d", got, want)
	}
}
