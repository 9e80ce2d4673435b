package clients_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// delegationVersion is the first version of the protocol with user delegation for tables. No SDK for tables sends this
// version yet. So these tests request the user delegation key and sign with it themselves. Then they use the signed URL
// through the SDK.
const delegationVersion = "2025-07-05"

const sasTime = "2006-01-02T15:04:05Z"

// delegationKey is the key in the service's response.
type delegationKey struct {
	SignedOid, SignedTid, SignedStart, SignedExpiry, SignedService, SignedVersion, Value string
}

// delegate requests a user delegation key that is valid from an hour ago until expiry.
func (s started) delegate(t *testing.T, token, expiry string) (int, []byte) {
	t.Helper()
	document := "<?xml version=\"1.0\" encoding=\"utf-8\"?><KeyInfo><Start>" + past.Format(sasTime) + "</Start><Expiry>" + expiry + "</Expiry></KeyInfo>"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		s.endpoint+"?restype=service&comp=userdelegationkey", strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/xml")
	request.Header.Set("x-ms-version", delegationVersion)
	response, err := s.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

func (s started) delegationKey(t *testing.T, token string) delegationKey {
	t.Helper()
	status, body := s.delegate(t, token, future.Format(sasTime))
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	var key delegationKey
	if err := xml.Unmarshal(body, &key); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return key
}

// sign returns a shared access signature for a table. It adds the fields of the user delegation key to the parameters.
// The order of the lines that it signs is fixed.
func (k delegationKey) sign(t *testing.T, a account, table string, parameters map[string]string) string {
	t.Helper()
	query := url.Values{
		"sv": {delegationVersion}, "tn": {table},
		"skoid": {k.SignedOid}, "sktid": {k.SignedTid}, "skt": {k.SignedStart}, "ske": {k.SignedExpiry},
		"sks": {k.SignedService}, "skv": {k.SignedVersion},
	}
	for name, value := range parameters {
		query.Set(name, value)
	}
	lines := []string{query.Get("sp"), query.Get("st"), query.Get("se"), "/table/" + a.name + "/" + strings.ToLower(table)}
	for _, name := range []string{
		"skoid", "sktid", "skt", "ske", "sks", "skv", "skdutid", "sduoid", "sip", "spr", "sv", "spk", "srk", "epk", "erk",
	} {
		lines = append(lines, query.Get(name))
	}
	secret, err := base64.StdEncoding.DecodeString(k.Value)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.Join(lines, "\n")))
	query.Set("sig", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return query.Encode()
}

func TestUserDelegation(t *testing.T) {
	t.Parallel()
	server, is := startWithIssuer(t)
	owner, table := server.ownTable(t)
	add(t, owner.NewClient(table), "q", "beyond", nil)

	keys := map[string]delegationKey{}
	for _, role := range []string{reader, contributor} {
		keys[role] = server.delegationKey(t, is.token(t, []string{role}, nil))
	}
	withSAS := func(query string) *aztables.Client {
		client, err := aztables.NewClientWithNoCredential(server.endpoint+table+"?"+query, server.options(policy.RetryOptions{MaxRetries: -1}))
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	soon, gone := future.Format(sasTime), past.Format(sasTime)

	// A signature permits an operation under two conditions. Its permissions (the letters in the field sp) must permit
	// the operation. The role of the user who signed must also permit the operation.
	for _, c := range []struct{ role, letters, allowed string }{
		{reader, "r", "r"}, {reader, "raud", "r"}, {contributor, "r", "r"}, {contributor, "au", "au"}, {contributor, "raud", "raud"},
	} {
		by := withSAS(keys[c.role].sign(t, server.account, table, map[string]string{"sp": c.letters, "se": soon}))
		for _, d := range deeds {
			t.Run(fmt.Sprintf("%s signs %s/%s", c.role, c.letters, d.name), func(t *testing.T) {
				err := d.do(t, owner.NewClient(table), by)
				if !covers(c.allowed, d.needs) {
					wantError(t, err, http.StatusForbidden, "AuthorizationPermissionMismatch")
				} else if err != nil {
					t.Error(err)
				}
			})
		}
	}

	key := keys[contributor]
	for _, c := range []struct {
		why        string
		key        delegationKey
		parameters map[string]string
		code       string
	}{
		{"expired", key, map[string]string{"sp": "r", "se": gone}, "AuthenticationFailed"},
		{"not yet", key, map[string]string{"sp": "r", "st": soon, "se": future.Add(time.Hour).Format(sasTime)}, "AuthenticationFailed"},
		{"outlives its key", key, map[string]string{"sp": "r", "se": future.Add(time.Hour).Format(sasTime)}, "AuthenticationFailed"},
		{"a key made to last", with(key, func(k *delegationKey) { k.SignedExpiry = future.Add(time.Hour).Format(sasTime) }),
			map[string]string{"sp": "r", "se": soon}, "AuthenticationFailed"},
		{"a key of somebody else", with(key, func(k *delegationKey) { k.SignedOid = "00000000-0000-0000-0000-000000000000" }),
			map[string]string{"sp": "r", "se": soon}, "AuthenticationFailed"},
		{"another address", key, map[string]string{"sp": "r", "se": soon, "sip": "203.0.113.7"}, "AuthorizationSourceIPMismatch"},
		{"https only, and so it is", key, map[string]string{"sp": "r", "se": soon, "spr": "https"}, ""},
		{"another partition", key, map[string]string{"sp": "r", "se": soon, "spk": "q", "epk": "q"}, "ResourceNotFound"},
		{"the right partition", key, map[string]string{"sp": "r", "se": soon, "spk": "p", "epk": "p"}, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := withSAS(c.key.sign(t, server.account, table, c.parameters)).GetEntity(t.Context(), "p", "there", nil)
			switch c.code {
			case "":
				if err != nil {
					t.Error(err)
				}
			case "ResourceNotFound":
				wantError(t, err, http.StatusNotFound, c.code)
			default:
				wantError(t, err, http.StatusForbidden, c.code)
			}
		})
	}
	t.Run("a query within its range", func(t *testing.T) {
		by := withSAS(key.sign(t, server.account, table, map[string]string{"sp": "r", "se": soon, "spk": "q"}))
		wantRows(t, list(t, by, nil), "beyond")
	})
}

func TestUserDelegationKey(t *testing.T) {
	t.Parallel()
	server, is := startWithIssuer(t)
	token := is.token(t, []string{reader}, nil)

	t.Run("says what it is for", func(t *testing.T) {
		key := server.delegationKey(t, token)
		want := delegationKey{
			"6ac9a7cd-52f4-4be0-b1e4-1b2f8a8e5d42", "e2a3c7a6-6a3c-4b0c-9d5a-0d4ed0a8b7b1",
			past.Format(sasTime), future.Format(sasTime), "t", delegationVersion, key.Value,
		}
		if key != want {
			t.Errorf("got  %+v\nwant %+v", key, want)
		}
		if secret, err := base64.StdEncoding.DecodeString(key.Value); err != nil || len(secret) != 32 {
			t.Errorf("value of %d bytes: %v", len(secret), err)
		}
	})
	for _, c := range []struct {
		why, token, expiry string
		status             int
		code               string
	}{
		{"eight days", token, future.AddDate(0, 0, 8).Format(sasTime), http.StatusBadRequest, "OutOfRangeInput"},
		{"past already", token, past.Format(sasTime), http.StatusBadRequest, "OutOfRangeInput"},
		{"no time", token, "soon", http.StatusBadRequest, "InvalidXmlDocument"},
		{"nobody", "nonsense", future.Format(sasTime), http.StatusUnauthorized, "InvalidAuthenticationInfo"},
		{"no role", is.token(t, nil, nil), future.Format(sasTime), http.StatusForbidden, "AuthorizationPermissionMismatch"},
	} {
		t.Run("refused: "+c.why, func(t *testing.T) {
			status, body := server.delegate(t, c.token, c.expiry)
			if status != c.status || !strings.Contains(string(body), ">"+c.code+"<") {
				t.Errorf("got %d %s, want %d %s", status, body, c.status, c.code)
			}
		})
	}
}
