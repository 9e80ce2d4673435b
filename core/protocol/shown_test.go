package protocol_test

import (
	"strings"
	"testing"

	"edgetable/core/protocol"
)

// FuzzShown checks that no log shows a signature or a key that a client sent as its client request id. A log must also
// not show a method or an account that a client without a key invented.
func FuzzShown(f *testing.F) {
	f.Add("https://h/acct/T?sp=r&", "sig=", "c2lnbmF0dXJl", "GET", 0)
	f.Add("AccountName=acct;Account", "Key%3D", "bm90aGluZw==", "POST", 1)
	f.Add("sig", "SIG%3d", "%2Babcd", "<script>", 2)
	f.Fuzz(func(t *testing.T, before, name, secret, method string, refused int) {
		s := protocol.Summary{Method: method, Account: "acct", SignedIn: refused%2 == 0, ClientRequestID: before + name + secret}
		s.Refused = []protocol.Refusal{"", protocol.RefusedAccount, protocol.RefusedSignature, protocol.RefusedQueue}[uint(refused)%4]
		shown := s.Redacted()
		switch strings.ToLower(name) {
		case "sig=", "sig%3d", "key=", "key%3d":
			if len(secret) > 5 && !strings.Contains(before+name+"…", secret) && strings.Contains(shown.ClientRequestID, secret) {
				t.Fatalf("%q shows %q", shown.ClientRequestID, secret)
			}
		}
		if text := strings.TrimSuffix(shown.ClientRequestID, "…"); !strings.HasPrefix(s.ClientRequestID, text) {
			t.Fatalf("%q became %q", s.ClientRequestID, shown.ClientRequestID)
		}
		if shown.Method != method && shown.Method != "?" || strings.ContainsAny(shown.Method, "<> \n") {
			t.Fatalf("the method %q is shown", shown.Method)
		}
		if !s.SignedIn && shown.ClientRequestID != "" {
			t.Fatalf("%+v is shown of what a stranger sent", shown)
		}
		if again := shown.Redacted(); again != shown {
			t.Fatalf("shown twice: %+v and %+v", shown, again)
		}
	})
}
