package clients_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// signedService returns a client of the service whose only credential is an account signature of these
// values.
func (a account) signedService(t *testing.T, values aztables.AccountSASSignatureValues) *aztables.ServiceClient {
	t.Helper()
	if values.ExpiryTime.IsZero() {
		values.ExpiryTime = future
	}
	signed, err := values.Sign(a.credential)
	if err != nil {
		t.Fatal(err)
	}
	service, err := aztables.NewServiceClientWithNoCredential(a.endpoint+"?"+signed.Encode(), noRetries())
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// accountDeeds lists operations. For each operation, it has the resource type and the letters of all
// permissions that an account signature needs.
var accountDeeds = []struct {
	name, types, permissions string
	do                       func(t *testing.T, owner, by *aztables.ServiceClient, table string) error
}{
	{"get properties", "s", "r", func(t *testing.T, _, by *aztables.ServiceClient, _ string) error {
		_, err := by.GetProperties(t.Context(), nil)
		return err
	}},
	{"list tables", "c", "l", func(t *testing.T, _, by *aztables.ServiceClient, _ string) error {
		_, err := by.NewListTablesPager(nil).NextPage(t.Context())
		return err
	}},
	{"create table", "c", "w", func(t *testing.T, owner, by *aztables.ServiceClient, _ string) error {
		name := newName(t)
		_, err := by.CreateTable(t.Context(), name, nil)
		if err == nil {
			deleteTable(t, owner, name)
		}
		return err
	}},
	{"delete table", "c", "d", func(t *testing.T, owner, by *aztables.ServiceClient, _ string) error {
		name := newName(t)
		if _, err := owner.CreateTable(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
		_, err := by.DeleteTable(t.Context(), name, nil)
		if err != nil {
			deleteTable(t, owner, name)
		}
		return err
	}},
	{"query", "o", "r", onTable(deeds[0])},
	{"get", "o", "r", onTable(deeds[1])},
	{"insert", "o", "a", onTable(deeds[2])},
	{"merge", "o", "u", onTable(deeds[3])},
	{"insert or replace", "o", "au", onTable(deeds[6])},
	{"delete", "o", "d", onTable(deeds[7])},
}

func onTable(d deed) func(*testing.T, *aztables.ServiceClient, *aztables.ServiceClient, string) error {
	return func(t *testing.T, owner, by *aztables.ServiceClient, table string) error {
		return d.do(t, owner.NewClient(table), by.NewClient(table))
	}
}

func TestAccountSAS(t *testing.T) {
	t.Parallel()
	table, there := newNamedTable(t)
	add(t, there, "p", "there", nil)
	owner := newService(t)
	check := func(name string, values aztables.AccountSASSignatureValues, want func(types, permissions string) string) {
		t.Helper()
		if values.Services == "" {
			values.Services = "t"
		}
		by := home(t).signedService(t, values)
		for _, d := range accountDeeds {
			t.Run(name+"/"+d.name, func(t *testing.T) {
				err := d.do(t, owner, by, table)
				if code := want(d.types, d.permissions); code != "" {
					wantError(t, err, http.StatusForbidden, code)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
	}
	for _, types := range []string{"s", "c", "o", "sco"} {
		check("resource types "+types, aztables.AccountSASSignatureValues{ResourceTypes: types, Permissions: "rwdlacu"},
			func(needed, _ string) string {
				if covers(types, needed) {
					return ""
				}
				return "AuthorizationResourceTypeMismatch"
			})
	}
	for _, permissions := range []string{"r", "w", "d", "l", "a", "u", "rl", "au"} {
		check("permissions "+permissions, aztables.AccountSASSignatureValues{ResourceTypes: "sco", Permissions: permissions},
			func(_, needed string) string {
				if covers(permissions, needed) {
					return ""
				}
				return "AuthorizationPermissionMismatch"
			})
	}
	always := func(code string) func(string, string) string { return func(string, string) string { return code } }
	all := aztables.AccountSASSignatureValues{ResourceTypes: "sco", Permissions: "rwdlacu"}
	check("all services", with(all, func(v *aztables.AccountSASSignatureValues) { v.Services = "bqtf" }), always(""))
	check("other services", with(all, func(v *aztables.AccountSASSignatureValues) { v.Services = "bqf" }), always("AuthorizationServiceMismatch"))
	check("expired", with(all, func(v *aztables.AccountSASSignatureValues) { v.ExpiryTime = past }), always("AuthenticationFailed"))
	check("not yet", with(all, func(v *aztables.AccountSASSignatureValues) {
		v.StartTime = future
		v.ExpiryTime = future.Add(time.Hour)
	}), always("AuthenticationFailed"))
	check("https only", with(all, func(v *aztables.AccountSASSignatureValues) { v.Protocol = aztables.SASProtocolHTTPS }), always("AuthorizationProtocolMismatch"))
	check("the oldest version", with(all, func(v *aztables.AccountSASSignatureValues) { v.Version = "2015-04-05" }), always(""))
}

func with[T any](v T, change func(*T)) T {
	change(&v)
	return v
}

// TestAccountSASURL checks that the URL that the SDK signs is refused over HTTP, because the SDK signs it for
// HTTPS only. TestBearer checks such a URL over TLS.
func TestAccountSASURL(t *testing.T) {
	t.Parallel()
	link, err := home(t).owner(t, noRetries()).GetAccountSASURL(
		aztables.AccountSASResourceTypes{Service: true, Container: true, Object: true},
		aztables.AccountSASPermissions{Read: true, List: true}, past, future)
	if err != nil {
		t.Fatal(err)
	}
	service, err := aztables.NewServiceClientWithNoCredential(link, noRetries())
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.NewListTablesPager(nil).NextPage(t.Context())
	wantError(t, err, http.StatusForbidden, "AuthorizationProtocolMismatch")
}

// TestAccountSASAndPolicies checks that no signature permits reading or writing access policies, which
// only the owner of the account may do.
func TestAccountSASAndPolicies(t *testing.T) {
	t.Parallel()
	table, _ := newNamedTable(t)
	by := home(t).signedService(t, aztables.AccountSASSignatureValues{Services: "t", ResourceTypes: "sco", Permissions: "rwdlacu"})
	_, err := by.NewClient(table).GetAccessPolicy(t.Context(), nil)
	wantError(t, err, http.StatusForbidden, "AuthorizationFailure")
	_, err = by.NewClient(table).SetAccessPolicy(t.Context(), nil)
	wantError(t, err, http.StatusForbidden, "AuthorizationFailure")
}
