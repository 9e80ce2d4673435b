package clients_test

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// deed is an operation on entities. The field needs has a letter for each permission that the operation
// needs. The table already contains a row with the RowKey "there".
type deed struct {
	name, needs string
	do          func(t *testing.T, owner, by *aztables.Client) error
}

var deeds = []deed{
	{"query", "r", func(t *testing.T, _, by *aztables.Client) error {
		_, err := by.NewListEntitiesPager(nil).NextPage(t.Context())
		return err
	}},
	{"get", "r", func(t *testing.T, _, by *aztables.Client) error {
		_, err := by.GetEntity(t.Context(), "p", "there", nil)
		return err
	}},
	{"insert", "a", func(t *testing.T, _, by *aztables.Client) error {
		_, err := by.AddEntity(t.Context(), entity(t, "p", newName(t), nil), nil)
		return err
	}},
	{"merge", "u", update(aztables.UpdateModeMerge)},
	{"replace", "u", update(aztables.UpdateModeReplace)},
	{"insert or merge", "au", upsert(aztables.UpdateModeMerge)},
	{"insert or replace", "au", upsert(aztables.UpdateModeReplace)},
	{"delete", "d", func(t *testing.T, owner, by *aztables.Client) error {
		row := newName(t)
		add(t, owner, "p", row, nil)
		_, err := by.DeleteEntity(t.Context(), "p", row, nil)
		return err
	}},
}

func update(mode aztables.UpdateMode) func(*testing.T, *aztables.Client, *aztables.Client) error {
	return func(t *testing.T, _, by *aztables.Client) error {
		_, err := by.UpdateEntity(t.Context(), entity(t, "p", "there", nil), &aztables.UpdateEntityOptions{UpdateMode: mode})
		return err
	}
}

func upsert(mode aztables.UpdateMode) func(*testing.T, *aztables.Client, *aztables.Client) error {
	return func(t *testing.T, _, by *aztables.Client) error {
		_, err := by.UpsertEntity(t.Context(), entity(t, "p", "there", nil), &aztables.UpsertEntityOptions{UpdateMode: mode})
		return err
	}
}

func covers(letters, needed string) bool {
	for _, letter := range needed {
		if !strings.ContainsRune(letters, letter) {
			return false
		}
	}
	return true
}

func TestSASPermissions(t *testing.T) {
	t.Parallel()
	table, owner := newNamedTable(t)
	add(t, owner, "p", "there", nil)
	for _, letters := range []string{"r", "a", "u", "d", "au", "rud", "raud"} {
		by := home(t).signedTable(t, aztables.SASSignatureValues{TableName: table, Permissions: letters})
		for _, d := range deeds {
			t.Run(letters+"/"+d.name, func(t *testing.T) {
				err := d.do(t, owner, by)
				if !covers(letters, d.needs) {
					wantError(t, err, http.StatusForbidden, "AuthorizationPermissionMismatch")
				} else if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestSASBatch(t *testing.T) {
	t.Parallel()
	table, owner := newNamedTable(t)
	add(t, owner, "p", "there", nil)
	for _, c := range []struct {
		why, letters string
		kinds        []aztables.TransactionType
		failing      string // "" if the batch is allowed; otherwise the message's index of the failing operation; "alone" for one operation without a batch
	}{
		{"allowed", "a", []aztables.TransactionType{aztables.TransactionTypeAdd, aztables.TransactionTypeAdd}, ""},
		{"each operation is looked at", "a", []aztables.TransactionType{aztables.TransactionTypeAdd, aztables.TransactionTypeUpdateMerge}, "1:"},
		{"updates do not insert", "u", []aztables.TransactionType{aztables.TransactionTypeInsertMerge}, "alone"},
		{"upserts need both", "au", []aztables.TransactionType{aztables.TransactionTypeInsertReplace, aztables.TransactionTypeAdd}, ""},
		{"reading is no writing", "r", []aztables.TransactionType{aztables.TransactionTypeAdd}, "alone"},
		{"deletes need theirs", "aud", []aztables.TransactionType{aztables.TransactionTypeAdd, aztables.TransactionTypeDelete}, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			by := home(t).signedTable(t, aztables.SASSignatureValues{TableName: table, Permissions: c.letters})
			var steps []aztables.TransactionAction
			for _, kind := range c.kinds {
				row := "there"
				if kind == aztables.TransactionTypeAdd {
					row = newName(t)
				} else if kind == aztables.TransactionTypeDelete {
					row = newName(t)
					add(t, owner, "p", row, nil)
				}
				steps = append(steps, action(t, kind, row, nil))
			}
			before := len(list(t, owner, nil))
			_, err := by.SubmitTransaction(t.Context(), steps, nil)
			if c.failing == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFailedPart(t, err, "403", "AuthorizationPermissionMismatch", strings.TrimPrefix(c.failing, "alone"))
			if after := len(list(t, owner, nil)); after != before {
				t.Errorf("%d entities before, %d after", before, after)
			}
		})
	}
}

func TestSASTimes(t *testing.T) {
	t.Parallel()
	table, owner := newNamedTable(t)
	add(t, owner, "p", "there", nil)
	for _, c := range []struct {
		why           string
		start, expiry time.Time
		code          string
	}{
		{"no start", time.Time{}, future, ""},
		{"from the past", past, future, ""},
		{"expired", past.Add(-time.Hour), past, "AuthenticationFailed"},
		{"not yet", future, future.Add(time.Hour), "AuthenticationFailed"},
	} {
		t.Run(c.why, func(t *testing.T) {
			by := home(t).signedTable(t, aztables.SASSignatureValues{
				TableName: table, Permissions: "r", StartTime: c.start, ExpiryTime: c.expiry,
			})
			_, err := by.GetEntity(t.Context(), "p", "there", nil)
			if c.code != "" {
				wantError(t, err, http.StatusForbidden, c.code)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSASURL checks the URL that the SDK makes for other programs. The URL restricts neither the protocol
// nor the addresses of clients.
func TestSASURL(t *testing.T) {
	t.Parallel()
	table, owner := newNamedTable(t)
	add(t, owner, "p", "there", nil)
	signer := home(t).owner(t, noRetries()).NewClient(table)
	link, err := signer.GetTableSASURL(aztables.SASPermissions{Read: true}, past, future)
	if err != nil {
		t.Fatal(err)
	}
	client := func(link string) *aztables.Client {
		client, err := aztables.NewClientWithNoCredential(link, noRetries())
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	get(t, client(link), "p", "there")

	other, _ := newNamedTable(t)
	for _, c := range []struct{ why, link, code string }{
		{"more permissions", strings.Replace(link, "sp=r", "sp=raud", 1), "AuthenticationFailed"},
		{"another table in tn", strings.Replace(link, "tn="+strings.ToLower(table), "tn="+strings.ToLower(other), 1), "AuthenticationFailed"},
		{"another table in the path", strings.Replace(link, table, other, 1), "AuthorizationFailure"},
		{"no such table", strings.Replace(link, table, "Goz"+table[3:], 1), "AuthorizationFailure"}, // no other table has a z in its name
	} {
		if c.link == link {
			t.Fatalf("%s: nothing to change in the link", c.why)
		}
		_, err := client(c.link).GetEntity(t.Context(), "p", "there", nil)
		t.Run(c.why, func(t *testing.T) { wantError(t, err, http.StatusForbidden, c.code) })
	}

	t.Run("name in another case", func(t *testing.T) {
		get(t, client(strings.Replace(link, table, strings.ToUpper(table), 1)), "p", "there")
		get(t, home(t).signedTable(t, aztables.SASSignatureValues{TableName: strings.ToUpper(table), Permissions: "r"}), "p", "there")
	})
	t.Run("tables and policies are beyond it", func(t *testing.T) {
		for _, call := range []func(*aztables.Client) error{
			func(c *aztables.Client) error { _, err := c.CreateTable(t.Context(), nil); return err },
			func(c *aztables.Client) error { _, err := c.Delete(t.Context(), nil); return err },
			func(c *aztables.Client) error { _, err := c.GetAccessPolicy(t.Context(), nil); return err },
			func(c *aztables.Client) error { _, err := c.SetAccessPolicy(t.Context(), nil); return err },
		} {
			wantError(t, call(client(link)), http.StatusForbidden, "AuthorizationFailure")
		}
	})
}

func TestSASProtocolAndAddress(t *testing.T) {
	t.Parallel()
	table, owner := newNamedTable(t)
	add(t, owner, "p", "there", nil)
	if at, err := url.Parse(home(t).endpoint); err != nil || at.Scheme != "http" {
		t.Fatalf("the server under test is to be reached over http: %v %v", at, err)
	}
	for _, c := range []struct {
		why    string
		values aztables.SASSignatureValues
		code   string
	}{
		{"https only", aztables.SASSignatureValues{Protocol: aztables.SASProtocolHTTPS}, "AuthorizationProtocolMismatch"},
		{"https and http", aztables.SASSignatureValues{Protocol: aztables.SASProtocolHTTPSandHTTP}, ""},
		{"another address", aztables.SASSignatureValues{IPRange: aztables.IPRange{Start: net.IPv4(203, 0, 113, 7)}}, "AuthorizationSourceIPMismatch"},
		{"another range", aztables.SASSignatureValues{IPRange: aztables.IPRange{Start: net.IPv4(203, 0, 113, 7), End: net.IPv4(203, 0, 113, 9)}}, "AuthorizationSourceIPMismatch"},
		{"a range with everybody", aztables.SASSignatureValues{IPRange: aztables.IPRange{Start: net.IPv4(0, 0, 0, 0), End: net.IPv4(255, 255, 255, 255)}}, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			c.values.TableName, c.values.Permissions = table, "r"
			_, err := home(t).signedTable(t, c.values).GetEntity(t.Context(), "p", "there", nil)
			if c.code != "" {
				wantError(t, err, http.StatusForbidden, c.code)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
