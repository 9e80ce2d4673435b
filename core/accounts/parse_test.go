package accounts_test

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"edgetable/core/accounts"
)

// These keys are for the tests. Each has 32 bytes, in base64.
const (
	key1 = "Zmlyc3QgZmlyc3QgZmlyc3QgZmlyc3QgZmlyc3QgMTI="
	key2 = "c2Vjb25kIHNlY29uZCBzZWNvbmQgc2Vjb25kIDEyMzQ="
	key3 = "dGhpcmQgdGhpcmQgdGhpcmQgdGhpcmQgdGhpcmQgMTI="
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, names, why string }{
		{"acme:" + key1, "acme", "one account with one key"},
		{"acme:" + key1 + ":" + key2, "acme", "with two"},
		{"acme:" + key1 + ";beta:" + key2 + ";", "acme beta", "between semicolons"},
		{"acme:" + key1 + "\r\nbeta:" + key2 + "\n", "acme beta", "on lines"},
		{" acme : " + key1 + " : " + key2 + " ", "acme", "blanks around everything"},
		{"# beta:" + key1 + ";gamma:" + key1 + "\n  # and so on\nacme:" + key1, "acme", "a comment goes to the end of its line"},
		{"", "", "nothing"},
		{"acme:" + key1 + " allow=10.0.0.0/8,2001:db8::1 deny=10.9.0.0/16 disabled", "acme", "options"},
		{"acme : " + key1 + " disabled;beta:" + key2, "acme beta", "options of one"},
	} {
		list, err := accounts.Parse(tt.text)
		if got := strings.Join(slices.Sorted(maps.Keys(list)), " "); err != nil || got != tt.names {
			t.Errorf("%s: %q, %v", tt.why, got, err)
		}
	}
	for _, tt := range []struct{ text, say, why string }{
		{key1, "line 1: write name:key", "a key alone"},
		{"acme=" + key1, "line 1: write name:key", "the wrong sign"},
		{"acme:" + key1 + ";" + key2 + ":beta", "line 1: write name:key", "the key in front"},
		{"Acme:" + key1, "lower-case", "upper case"},
		{"ac:" + key1, "3 to 24", "a short name"},
		{"acme:" + key1 + ":" + key2 + ":" + key3, "more than two", "three keys"},
		{"acme:" + key1 + "\nacme:" + key2, "line 2: acme is there already", "an account twice"},
		{"acme:" + key1[:20] + "!", "key 1 of acme is not base64", "a broken key"},
		{"acme:" + key1 + ":", "key 2 of acme is not base64", "an empty second key"},
		{"acme:" + key1 + " allow=10.0.0.0/33", "10.0.0.0/33", "a network that is none"},
		{"acme:" + key1 + " deny=", "write addresses or networks", "no network"},
		{"acme:" + key1 + " audience=a,", "audience=\"a,\": write the aud values", "an empty audience"},
		{"acme:" + key1 + " open", "write allow=…, deny=…, audience=…, endpoint=…, https or disabled", "an unknown option"},
		{"acme:" + key1 + ":" + key2 + " alow=10.0.0.0/8 disabled", "an option of acme is unknown", "a misspelt option between others"},
		{"acme:" + key1 + " allow=10.0.0.0/8, 192.0.2.7", "without spaces", "a blank in a list"},
		{"acme:", "key 1 of acme is not base64", "an empty key"},
	} {
		list, err := accounts.Parse(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.say) || list != nil {
			t.Errorf("%s: %v, %v, want %q", tt.why, list, err, tt.say)
			continue
		}
		for _, key := range []string{key1, key2, key3} {
			if strings.Contains(err.Error(), key[:8]) {
				t.Errorf("%s: the error shows a key: %v", tt.why, err)
			}
		}
	}
}

// TestAudiences checks that an option sets the audiences of an account, and that Shared is set if a list has several
// accounts.
func TestAudiences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"acme:" + key1: "[] false",
		"acme:" + key1 + " audience=https://acme.example,api://acme": "[https://acme.example api://acme] false",
		"acme:" + key1 + ";beta:" + key2:                             "[] true",
		"acme:" + key1 + " audience=a audience=b;beta:" + key2:       "[a b] true",
	} {
		list, err := accounts.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := fmt.Sprint(list["acme"].Audiences, list["acme"].Shared); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestNetworks checks that a rule applies to an address in any notation: as one address, as a network, in IPv4 or in
// IPv4-mapped form.
func TestNetworks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ network, address, why string }{
		{"192.0.2.7", "192.0.2.7", "an address"},
		{"192.0.2.99/24", "192.0.2.7", "a network by one of its addresses"},
		{"::ffff:192.0.2.7", "192.0.2.7", "an IPv4 address as IPv6 shows it"},
		{"::ffff:192.0.2.0/120", "192.0.2.7", "an IPv4 network as IPv6 shows it"},
		{"::ffff:0:0/96", "192.0.2.7", "all of IPv4"},
		{"192.0.2.7", "::ffff:192.0.2.7", "the other way round"},
		{"2001:db8::/32", "2001:db8::7", "IPv6"},
	} {
		list, err := accounts.Parse("acme:" + key1 + " deny=" + tt.network)
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if list["acme"].Firewall.Admits(netip.MustParseAddr(tt.address)) {
			t.Errorf("%s: deny=%s admits %s", tt.why, tt.network, tt.address)
		}
	}
}

// TestShortKey checks that a key that is too short to be safe is refused, and that the error says how to make a
// longer one.
func TestShortKey(t *testing.T) {
	t.Parallel()
	const short = "c2hvcnQgc2hvcnQgc2hvcnQgc2hvcnQgc2hvcnQ=" // a key of 29 bytes
	_, err := accounts.Parse("# ours\n\nacme:" + key1 + ":" + short)
	if err == nil || !strings.HasPrefix(err.Error(), "line 3: key 2 of acme has 29 bytes, but needs at least 32 (make one with: openssl") {
		t.Error(err)
	}
}
