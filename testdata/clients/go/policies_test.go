package clients_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// accessPolicy is a stored access policy. Zero fields are omitted.
type accessPolicy struct {
	id            string
	start, expiry time.Time
	permissions   string
}

func (s accessPolicy) identifier() *aztables.SignedIdentifier {
	set := func(when time.Time) *time.Time {
		if when.IsZero() {
			return nil
		}
		return &when
	}
	identifier := &aztables.SignedIdentifier{ID: &s.id}
	if s != (accessPolicy{id: s.id}) {
		identifier.AccessPolicy = &aztables.AccessPolicy{Start: set(s.start), Expiry: set(s.expiry)}
		if s.permissions != "" {
			identifier.AccessPolicy.Permission = &s.permissions
		}
	}
	return identifier
}

func setPolicies(t *testing.T, table *aztables.Client, policies ...accessPolicy) error {
	t.Helper()
	var acl []*aztables.SignedIdentifier
	for _, p := range policies {
		acl = append(acl, p.identifier())
	}
	_, err := table.SetAccessPolicy(t.Context(), &aztables.SetAccessPolicyOptions{TableACL: acl})
	return err
}

func wantPolicies(t *testing.T, table *aztables.Client, want ...accessPolicy) {
	t.Helper()
	response, err := table.GetAccessPolicy(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []accessPolicy
	for _, identifier := range response.SignedIdentifiers {
		s := accessPolicy{id: *identifier.ID}
		if p := identifier.AccessPolicy; p != nil {
			if p.Start != nil {
				s.start = p.Start.UTC()
			}
			if p.Expiry != nil {
				s.expiry = p.Expiry.UTC()
			}
			if p.Permission != nil {
				s.permissions = *p.Permission
			}
		}
		got = append(got, s)
	}
	if !slices.Equal(got, want) {
		t.Errorf("policies:\n got %v\nwant %v", got, want)
	}
}

var (
	begin = time.Date(2021, 6, 8, 2, 10, 9, 0, time.UTC)
	end   = time.Date(2041, 6, 8, 2, 10, 9, 123_456_700, time.UTC) // with seven decimals, as many as the service stores
	full  = accessPolicy{"full", begin, end, "raud"}
)

func TestTableACL(t *testing.T) {
	t.Parallel()
	table, client := newNamedTable(t)
	for _, c := range []struct {
		why      string
		policies []accessPolicy
	}{
		{"none", nil},
		{"one", []accessPolicy{full}},
		{"five in their order", []accessPolicy{{id: "e"}, {id: "d", permissions: "r"}, {"c", begin, end, ""}, full, {"<&> 'é' \"", begin, begin, "ud"}}},
		{"expired already", []accessPolicy{{"old", begin, begin, "r"}}},
		{"an id of 64", []accessPolicy{{strings.Repeat("i", 64), begin, end, "r"}}},
		{"none again", nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			if err := setPolicies(t, client, c.policies...); err != nil {
				t.Fatal(err)
			}
			wantPolicies(t, client, c.policies...)
			wantPolicies(t, newService(t).NewClient(strings.ToUpper(table)), c.policies...)
		})
	}
}

func TestTableACLRefused(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	if err := setPolicies(t, client, full); err != nil {
		t.Fatal(err)
	}
	six := make([]accessPolicy, 6)
	for i := range six {
		six[i] = accessPolicy{id: fmt.Sprint(i), permissions: "r"}
	}
	for _, c := range []struct {
		why      string
		policies []accessPolicy
	}{
		{"six", six},
		{"an id of 65", []accessPolicy{{id: strings.Repeat("i", 65), permissions: "r"}}},
		{"an id twice", []accessPolicy{full, full}},
		{"no id", []accessPolicy{{permissions: "r"}}},
		{"a permission of blobs", []accessPolicy{{id: "a", permissions: "rw"}}},
	} {
		t.Run(c.why, func(t *testing.T) {
			var response *http.Response // read the response itself: the SDK's parser hides it behind an error of its own if there are six policies
			var acl []*aztables.SignedIdentifier
			for _, p := range c.policies {
				acl = append(acl, p.identifier())
			}
			ctx := policy.WithCaptureResponse(t.Context(), &response)
			if _, err := client.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: acl}); err == nil {
				t.Error("no error")
			}
			if code := response.Header.Get("x-ms-error-code"); response.StatusCode != http.StatusBadRequest || code != "InvalidXmlDocument" {
				t.Errorf("got %d %q, want 400 InvalidXmlDocument", response.StatusCode, code)
			}
			wantPolicies(t, client, full)
		})
	}
	t.Run("missing table", func(t *testing.T) {
		missing := newService(t).NewClient(newName(t))
		_, err := missing.GetAccessPolicy(t.Context(), nil)
		wantError(t, err, http.StatusNotFound, "TableNotFound")
		wantError(t, setPolicies(t, missing, full), http.StatusNotFound, "TableNotFound")
	})
}

func TestTableACLDiesWithItsTable(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	if err := setPolicies(t, client, full); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Delete(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	wantPolicies(t, client)
}

// TestSASOfPolicy checks that a token that names a stored policy permits only operations that both the token
// and the stored policy permit. A later change of the policy must apply to existing tokens.
func TestSASOfPolicy(t *testing.T) {
	t.Parallel()
	table, owner := newNamedTable(t)
	add(t, owner, "p", "there", nil)
	soon := to.Ptr(future)
	for _, c := range []struct {
		why   string
		now   []accessPolicy
		token aztables.SASSignatureValues
		code  string // expected error code of a read; "" if the read must succeed
	}{
		{"all of it stored", []accessPolicy{{"id", past, *soon, "r"}}, aztables.SASSignatureValues{}, ""},
		{"one of several", []accessPolicy{{"other", past, past, "r"}, {"id", past, *soon, "r"}}, aztables.SASSignatureValues{}, ""},
		{"permissions in the token", []accessPolicy{{"id", past, *soon, ""}}, aztables.SASSignatureValues{Permissions: "r"}, ""},
		{"expiry in the token", []accessPolicy{{id: "id", permissions: "r"}}, aztables.SASSignatureValues{ExpiryTime: *soon}, ""},
		{"all of it in the token", []accessPolicy{{id: "id"}}, aztables.SASSignatureValues{Permissions: "r", ExpiryTime: *soon}, ""},
		{"expired in the policy", []accessPolicy{{"id", past, past, "r"}}, aztables.SASSignatureValues{}, "AuthenticationFailed"},
		{"expired in the token", []accessPolicy{{id: "id", permissions: "r"}}, aztables.SASSignatureValues{ExpiryTime: past}, "AuthenticationFailed"},
		{"not yet", []accessPolicy{{"id", *soon, soon.Add(time.Hour), "r"}}, aztables.SASSignatureValues{}, "AuthenticationFailed"},
		{"no expiry anywhere", []accessPolicy{{id: "id", permissions: "r"}}, aztables.SASSignatureValues{}, "AuthenticationFailed"},
		{"no permissions anywhere", []accessPolicy{{"id", past, *soon, ""}}, aztables.SASSignatureValues{}, "AuthenticationFailed"},
		{"other permissions", []accessPolicy{{"id", past, *soon, "aud"}}, aztables.SASSignatureValues{}, "AuthorizationPermissionMismatch"},
		{"another id", []accessPolicy{{"ID", past, *soon, "r"}}, aztables.SASSignatureValues{}, "AuthenticationFailed"},
		{"no policies", nil, aztables.SASSignatureValues{}, "AuthenticationFailed"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if err := setPolicies(t, owner, c.now...); err != nil {
				t.Fatal(err)
			}
			c.token.TableName, c.token.Identifier = table, "id"
			_, err := home(t).signedTable(t, c.token).GetEntity(t.Context(), "p", "there", nil)
			if c.code != "" {
				wantError(t, err, http.StatusForbidden, c.code)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSASOfChangingPolicy(t *testing.T) {
	t.Parallel()
	table, owner := newNamedTable(t)
	add(t, owner, "p", "there", nil)
	by := home(t).signedTable(t, aztables.SASSignatureValues{TableName: table, Identifier: "id"})
	read := func() error { _, err := by.GetEntity(t.Context(), "p", "there", nil); return err }
	write := func() error {
		_, err := by.UpdateEntity(t.Context(), entity(t, "p", "there", nil), nil)
		return err
	}
	step := func(policies ...accessPolicy) {
		t.Helper()
		if err := setPolicies(t, owner, policies...); err != nil {
			t.Fatal(err)
		}
	}
	step(accessPolicy{"id", past, future, "r"})
	if err := read(); err != nil {
		t.Error(err)
	}
	wantError(t, write(), http.StatusForbidden, "AuthorizationPermissionMismatch")
	step(accessPolicy{"id", past, future, "u"}) // the changed policy takes effect at once
	wantError(t, read(), http.StatusForbidden, "AuthorizationPermissionMismatch")
	if err := write(); err != nil {
		t.Error(err)
	}
	step() // without the policy the token is invalid
	wantError(t, read(), http.StatusForbidden, "AuthenticationFailed")
	wantError(t, write(), http.StatusForbidden, "AuthenticationFailed")
	step(accessPolicy{"id", past, future, "ru"}) // with the policy stored again, the old token is valid again
	if err := read(); err != nil {
		t.Error(err)
	}
}
