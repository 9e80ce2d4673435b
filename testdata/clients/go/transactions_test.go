package clients_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func submit(t *testing.T, client *aztables.Client, actions ...aztables.TransactionAction) {
	t.Helper()
	if _, err := client.SubmitTransaction(t.Context(), actions, nil); err != nil {
		t.Fatalf("transaction of %d: %v", len(actions), err)
	}
}

// action returns an operation of a transaction on the entity with the keys "p" and row.
func action(t *testing.T, kind aztables.TransactionType, row string, properties fields) aztables.TransactionAction {
	t.Helper()
	return aztables.TransactionAction{ActionType: kind, Entity: entity(t, "p", row, properties)}
}

func inserts(t *testing.T, count int) []aztables.TransactionAction {
	t.Helper()
	actions := make([]aztables.TransactionAction, count)
	for i := range actions {
		actions[i] = action(t, aztables.TransactionTypeAdd, fmt.Sprintf("%04d", i), fields{"N": i})
	}
	return actions
}

var failedPart = regexp.MustCompile(`(?s)HTTP/1\.1 (\d{3}) .*"code":"(\w+)".*"value":"(\d+:)?`)

// wantFailedPart checks the part of a failed transaction's response that has the error. The status of the whole
// response is 202, which the SDK returns as an error; the test must read the part from the body.
func wantFailedPart(t *testing.T, err error, status, code, index string) {
	t.Helper()
	var failure *azcore.ResponseError
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a response error", err)
	}
	body, readErr := runtime.Payload(failure.RawResponse)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if failure.StatusCode != http.StatusAccepted {
		t.Errorf("status of the whole: got %d, want 202\n%s", failure.StatusCode, body)
	}
	part := failedPart.FindSubmatch(body)
	if part == nil {
		t.Fatalf("no failed part in %s", body)
	}
	if string(part[1]) != status || string(part[2]) != code || string(part[3]) != index {
		t.Errorf("part: got %s %s at %q, want %s %s at %q", part[1], part[2], part[3], status, code, index)
	}
	if n := strings.Count(string(body), "HTTP/1.1 "); n != 1 {
		t.Errorf("a failed transaction has one part, got %d", n)
	}
}

func TestTransactionOfAHundred(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	submit(t, client, inserts(t, 100)...)
	if got := len(list(t, client, nil)); got != 100 {
		t.Errorf("stored %d entities, want 100", got)
	}
}

func TestTransactionResponse(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	body := string(wire(t, func(ctx context.Context) error {
		_, err := client.SubmitTransaction(ctx, inserts(t, 3), nil)
		return err
	}))
	if got := strings.Count(body, "HTTP/1.1 204 No Content\r\n"); got != 3 {
		t.Errorf("got %d parts with 204, want 3:\n%s", got, body)
	}
	for row := range 3 { // the response has one part for each operation, in order, with the ETag of the stored entity
		etag := get(t, client, "p", fmt.Sprintf("%04d", row))["odata.etag"].(string)
		if !strings.Contains(body, "ETag: "+etag+"\r\n") {
			t.Errorf("row %d: no part has its ETag %s:\n%s", row, etag, body)
		}
	}
}

func TestMixedTransaction(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	for _, row := range []string{"delete", "merge", "replace", "upsert merge", "upsert replace"} {
		add(t, client, "p", row, fields{"Old": 1})
	}
	submit(t, client,
		action(t, aztables.TransactionTypeAdd, "add", fields{"New": 1}),
		action(t, aztables.TransactionTypeDelete, "delete", nil),
		action(t, aztables.TransactionTypeUpdateMerge, "merge", fields{"New": 1}),
		action(t, aztables.TransactionTypeUpdateReplace, "replace", fields{"New": 1}),
		action(t, aztables.TransactionTypeInsertMerge, "upsert merge", fields{"New": 1}),
		action(t, aztables.TransactionTypeInsertReplace, "upsert replace", fields{"New": 1}),
		action(t, aztables.TransactionTypeInsertMerge, "upsert new", fields{"New": 1}),
	)
	wantRows(t, list(t, client, nil), "add", "merge", "replace", "upsert merge", "upsert new", "upsert replace")
	for row, keepsOld := range map[string]bool{
		"add": false, "merge": true, "replace": false, "upsert merge": true, "upsert new": false, "upsert replace": false,
	} {
		got := get(t, client, "p", row)
		if _, old := got["Old"]; old != keepsOld || got["New"] != 1.0 {
			t.Errorf("%s: got %v", row, got.custom())
		}
	}
}

func TestFailedTransactionStoresNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                string
		failing             func(t *testing.T, stale azcore.ETag) aztables.TransactionAction
		status, code, index string
	}{
		{"existing entity", func(t *testing.T, _ azcore.ETag) aztables.TransactionAction {
			return action(t, aztables.TransactionTypeAdd, "there", nil)
		}, "409", "EntityAlreadyExists", "3:"},
		{"missing entity", func(t *testing.T, _ azcore.ETag) aztables.TransactionAction {
			return action(t, aztables.TransactionTypeDelete, "nowhere", nil)
		}, "404", "ResourceNotFound", "3:"},
		{"stale ETag on merge", func(t *testing.T, stale azcore.ETag) aztables.TransactionAction {
			step := action(t, aztables.TransactionTypeUpdateMerge, "there", fields{"A": 9})
			step.IfMatch = &stale
			return step
		}, "412", "UpdateConditionNotSatisfied", "3:"},
		{"stale ETag on replace", func(t *testing.T, stale azcore.ETag) aztables.TransactionAction {
			step := action(t, aztables.TransactionTypeUpdateReplace, "there", fields{"A": 9})
			step.IfMatch = &stale
			return step
		}, "412", "UpdateConditionNotSatisfied", "3:"},
		{"stale ETag on delete", func(t *testing.T, stale azcore.ETag) aztables.TransactionAction {
			step := action(t, aztables.TransactionTypeDelete, "there", nil)
			step.IfMatch = &stale
			return step
		}, "412", "UpdateConditionNotSatisfied", "3:"},
		{"row twice", func(t *testing.T, _ azcore.ETag) aztables.TransactionAction {
			return action(t, aztables.TransactionTypeInsertMerge, "new", nil)
		}, "400", "InvalidDuplicateRow", "3:"},
		{"other partition", func(t *testing.T, _ azcore.ETag) aztables.TransactionAction {
			return aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: entity(t, "other", "x", nil)}
		}, "400", "CommandsInBatchActOnDifferentPartitions", "3:"},
		{"value too large", func(t *testing.T, _ azcore.ETag) aztables.TransactionAction {
			return action(t, aztables.TransactionTypeAdd, "large", fields{"A": strings.Repeat("x", 32769)})
		}, "400", "PropertyValueTooLarge", "3:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client := newTable(t)
			stale := add(t, client, "p", "there", fields{"A": 1})
			add(t, client, "p", "victim", nil)
			if _, err := client.UpdateEntity(t.Context(), entity(t, "p", "there", nil), nil); err != nil {
				t.Fatal(err)
			}
			before := get(t, client, "p", "victim")["odata.etag"]
			_, err := client.SubmitTransaction(t.Context(), []aztables.TransactionAction{
				action(t, aztables.TransactionTypeAdd, "new", nil),
				action(t, aztables.TransactionTypeUpdateMerge, "victim", fields{"A": 2}),
				action(t, aztables.TransactionTypeInsertReplace, "newer", nil),
				test.failing(t, stale),
				action(t, aztables.TransactionTypeAdd, "newest", nil),
			}, nil)
			wantFailedPart(t, err, test.status, test.code, test.index)
			wantRows(t, list(t, client, nil), "there", "victim")
			if after := get(t, client, "p", "victim")["odata.etag"]; after != before {
				t.Errorf("the ETag of a rolled back entity moved from %v to %v", before, after)
			}
		})
	}
}

func TestTransactionOfMoreThanAHundred(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	_, err := client.SubmitTransaction(t.Context(), inserts(t, 101), nil)
	wantFailedPart(t, err, "400", "InvalidInput", "99:")
	wantRows(t, list(t, client, nil))
}

func TestTransactionOnMissingTable(t *testing.T) {
	t.Parallel()
	client := newService(t).NewClient(newName(t))
	_, err := client.SubmitTransaction(t.Context(), inserts(t, 2), nil)
	wantFailedPart(t, err, "404", "TableNotFound", "0:")
}

func TestConditionalTransaction(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	steps := []aztables.TransactionAction{
		action(t, aztables.TransactionTypeUpdateMerge, "merge", fields{"A": 2}),
		action(t, aztables.TransactionTypeUpdateReplace, "replace", fields{"A": 2}),
		action(t, aztables.TransactionTypeDelete, "delete", nil),
	}
	for i, row := range []string{"merge", "replace", "delete"} {
		etag := add(t, client, "p", row, fields{"A": 1})
		steps[i].IfMatch = &etag
	}
	submit(t, client, steps...)
	wantRows(t, list(t, client, nil), "merge", "replace")
	if got := get(t, client, "p", "merge")["A"]; got != 2.0 {
		t.Errorf("merge: A is %v", got)
	}
	// The transaction has changed the ETags of the entities, so the old ETags in the list steps no longer match.
	_, err := client.SubmitTransaction(t.Context(), steps[:2], nil)
	wantFailedPart(t, err, "412", "UpdateConditionNotSatisfied", "0:")

	wildcard := azcore.ETagAny
	steps[0].IfMatch = &wildcard
	submit(t, client, steps[0])
	missing := action(t, aztables.TransactionTypeUpdateReplace, "nowhere", nil)
	missing.IfMatch = &wildcard
	_, err = client.SubmitTransaction(t.Context(), []aztables.TransactionAction{steps[0], missing}, nil)
	wantFailedPart(t, err, "404", "ResourceNotFound", "1:")
}

func TestLargeTransaction(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	sized := func(characters int) []aztables.TransactionAction { // returns 100 upserts
		actions := make([]aztables.TransactionAction, 100)
		for i := range actions {
			text := strings.Repeat("x", characters/2)
			actions[i] = action(t, aztables.TransactionTypeInsertReplace, fmt.Sprintf("%04d", i), fields{"A": text, "B": text})
		}
		return actions
	}
	submit(t, client, sized(40_000)...) // the body of the transaction, including the multipart headers, is just below 4 MiB
	rows := list(t, client, nil)
	if len(rows) != 100 {
		t.Fatalf("stored %d entities, want 100", len(rows))
	}
	if got := get(t, client, "p", "0099")["B"].(string); len(got) != 20_000 {
		t.Errorf("value of %d characters, want 20000", len(got))
	}
	_, err := client.SubmitTransaction(t.Context(), sized(43_000), nil)
	wantError(t, err, http.StatusRequestEntityTooLarge, "RequestBodyTooLarge")
}
