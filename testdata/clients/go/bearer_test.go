package clients_test

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// startWithIssuer starts a server over TLS with a token issuer. TLS is necessary, because the SDK never sends bearer
// tokens without TLS.
func startWithIssuer(t *testing.T) (started, *issuer) {
	t.Helper()
	is := newIssuer(t)
	return start(t, "--oidc-issuer", is.url, "--oidc-audiences", audience), is
}

func (s started) as(t *testing.T, token string) *aztables.ServiceClient {
	t.Helper()
	service, err := aztables.NewServiceClient(s.endpoint, bearer(token), s.options(policy.RetryOptions{MaxRetries: -1}))
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// ownTable creates a table with an entity, signed with the account key.
func (s started) ownTable(t *testing.T) (owner *aztables.ServiceClient, table string) {
	t.Helper()
	owner, table = s.owner(t, s.options(policy.RetryOptions{})), newName(t)
	if _, err := owner.CreateTable(t.Context(), table, nil); err != nil {
		t.Fatal(err)
	}
	add(t, owner.NewClient(table), "p", "there", nil)
	return owner, table
}

func TestBearer(t *testing.T) {
	t.Parallel()
	server, is := startWithIssuer(t)
	owner, table := server.ownTable(t)

	for _, roles := range [][]string{{contributor}, {reader, contributor}, {reader}} {
		by := server.as(t, is.token(t, roles, nil))
		writes := roles[len(roles)-1] == contributor
		for _, d := range deeds {
			t.Run(roles[len(roles)-1]+"/"+d.name, func(t *testing.T) {
				err := d.do(t, owner.NewClient(table), by.NewClient(table))
				if writes || d.needs == "r" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				wantError(t, err, http.StatusForbidden, "AuthorizationPermissionMismatch")
			})
		}
		for _, d := range accountDeeds {
			if d.types == "o" {
				continue
			}
			t.Run(roles[len(roles)-1]+"/"+d.name, func(t *testing.T) {
				err := d.do(t, owner, by, table)
				if writes || d.name == "list tables" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				wantError(t, err, http.StatusForbidden, "AuthorizationPermissionMismatch")
			})
		}
		t.Run(roles[len(roles)-1]+"/transaction", func(t *testing.T) {
			_, err := by.NewClient(table).SubmitTransaction(t.Context(), []aztables.TransactionAction{
				action(t, aztables.TransactionTypeInsertMerge, "there", nil),
			}, nil)
			if !writes {
				wantFailedPart(t, err, "403", "AuthorizationPermissionMismatch", "")
			} else if err != nil {
				t.Error(err)
			}
		})
		t.Run(roles[len(roles)-1]+"/policies", func(t *testing.T) { // no bearer token permits reading policies
			_, err := by.NewClient(table).GetAccessPolicy(t.Context(), nil)
			wantError(t, err, http.StatusNotFound, "ResourceNotFound")
		})
	}

	t.Run("account's link", func(t *testing.T) { // the SDK makes a signature that is only valid over HTTPS
		link, err := owner.GetAccountSASURL(aztables.AccountSASResourceTypes{Container: true, Object: true},
			aztables.AccountSASPermissions{Read: true, List: true}, past, future)
		if err != nil {
			t.Fatal(err)
		}
		by, err := aztables.NewServiceClientWithNoCredential(link, server.options(policy.RetryOptions{MaxRetries: -1}))
		if err != nil {
			t.Fatal(err)
		}
		get(t, by.NewClient(table), "p", "there")
	})
}

// TestBearerRefused checks how the server refuses tokens in requests of versions before 2020-12-06: with status 403 and
// without a challenge. The SDK requests version 2019-02-02.
func TestBearerRefused(t *testing.T) {
	t.Parallel()
	server, is := startWithIssuer(t)
	stranger := newIssuer(t)
	stranger.url = is.url // this issuer uses the other issuer's URL, but a different key
	everything := []string{contributor}
	hour := int64(3600)
	for _, c := range []struct {
		why, token string
		code       string
	}{
		{"no role", is.token(t, nil, nil), "AuthorizationPermissionMismatch"},
		{"another role", is.token(t, []string{"Storage Blob Data Contributor"}, nil), "AuthorizationPermissionMismatch"},
		{"another audience", is.token(t, everything, map[string]any{"aud": "https://vault.azure.net"}), "AuthenticationFailed"},
		{"no audience", is.token(t, everything, map[string]any{"aud": nil}), "AuthenticationFailed"},
		{"expired", is.token(t, everything, map[string]any{"exp": past.Unix()}), "AuthenticationFailed"},
		{"no expiry", is.token(t, everything, map[string]any{"exp": nil}), "AuthenticationFailed"},
		{"not yet", is.token(t, everything, map[string]any{"nbf": future.Unix(), "exp": future.Unix() + hour}), "AuthenticationFailed"},
		{"another issuer", is.token(t, everything, map[string]any{"iss": "https://sts.windows.net/other/"}), "AuthenticationFailed"},
		{"another key", stranger.token(t, everything, nil), "AuthenticationFailed"},
		{"no token at all", "nonsense", "AuthenticationFailed"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := server.as(t, c.token).NewListTablesPager(nil).NextPage(t.Context())
			wantError(t, err, http.StatusForbidden, c.code)
		})
	}
}
