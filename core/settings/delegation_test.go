package settings_test

import (
	"testing"

	"edgetable/core/sas"
	"edgetable/core/settings"

	"github.com/google/go-cmp/cmp"
)

func TestParseKeyInfo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, body, start, expiry string }{
		{"both", "<KeyInfo><Start>2023-01-01T00:00:00Z</Start><Expiry>2023-01-02T00:00:00Z</Expiry></KeyInfo>", "2023-01-01T00:00:00Z", "2023-01-02T00:00:00Z"},
		{"as a client writes it", "\uFEFF<?xml version='1.0' encoding='UTF-8'?>\r\n<KeyInfo>\r\n <Expiry> e </Expiry>\r\n <Start> s </Start>\r\n</KeyInfo>", "s", "e"},
		{"from now on", "<KeyInfo><Expiry>e</Expiry></KeyInfo>", "", "e"},
		{"from now on, in the words of another client", "<KeyInfo><Start /><Expiry>e</Expiry><DelegatedUserTid/></KeyInfo>", "", "e"},
	} {
		start, expiry, err := settings.ParseKeyInfo([]byte(c.body))
		if start != c.start || expiry != c.expiry || err != nil {
			t.Errorf("%s: %q, %q, %v", c.why, start, expiry, err)
		}
	}
	for _, c := range []struct{ why, body, want string }{
		{"no body", "", "no element"},
		{"no expiry", "<KeyInfo><Start>s</Start></KeyInfo>", "KeyInfo: <Expiry> is missing"},
		{"an empty expiry", "<KeyInfo><Start>s</Start><Expiry> </Expiry></KeyInfo>", "KeyInfo: Expiry is empty"},
		{"two expiries", "<KeyInfo><Expiry>e</Expiry><Expiry>f</Expiry></KeyInfo>", "Expiry: at most 1"},
		{"for another tenant only", "<KeyInfo><Expiry>e</Expiry><DelegatedUserTid>t</DelegatedUserTid></KeyInfo>", "DelegatedUserTid is not supported"},
	} {
		start, expiry, err := settings.ParseKeyInfo([]byte(c.body))
		refusedFor(t, err, c.want)
		if start != "" || expiry != "" {
			t.Errorf("%s: returned %q, %q with an error", c.why, start, expiry)
		}
	}
}

func TestAppendDelegationKey(t *testing.T) {
	t.Parallel()
	const want = `<?xml version="1.0" encoding="utf-8"?><UserDelegationKey><SignedOid>o</SignedOid><SignedTid>t</SignedTid><SignedStart>2023-01-01T00:00:00Z</SignedStart><SignedExpiry>2023-01-02T00:00:00Z</SignedExpiry><SignedService>t</SignedService><SignedVersion>2026-02-06</SignedVersion><Value>a+/=&lt;</Value></UserDelegationKey>`
	got := settings.AppendDelegationKey([]byte("before"), sas.DelegationKey{
		ObjectID: "o", TenantID: "t", Start: "2023-01-01T00:00:00Z", Expiry: "2023-01-02T00:00:00Z",
		Service: "t", Version: "2026-02-06", Value: "a+/=<",
	})
	if diff := cmp.Diff("before"+want, string(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
