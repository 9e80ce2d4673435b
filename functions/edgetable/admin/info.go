package admin

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"edgetable/functions/edgetable/cli"
)

// Info is the state that a server reports on its socket. It contains no keys.
type Info struct {
	URL      string    `json:"url"`     // URL of the server, to which the name of an account is appended
	Listens  string    `json:"listens"` // host:port
	File     string    `json:"file"`    // file of the accounts, or ""; without a file, uses of keys before the start of the server are unknown
	Accounts []Account `json:"accounts"`
}

// Account says when the keys of an account were last used.
type Account struct {
	Name     string `json:"name"`
	Disabled bool   `json:"disabled"`
	File     string `json:"file"` // path of the file of accounts that the server uses
	Keys     []Key  `json:"keys"`
}

// Key is one key of an account: its number, which is 1 or 2, and its last use, which is nil if it was never used.
type Key struct {
	Key      int        `json:"key"`
	LastUsed *time.Time `json:"lastUsed"`
}

// Find returns an account of the server.
func (i *Info) Find(name string) (Account, bool) {
	at := slices.IndexFunc(i.Accounts, func(a Account) bool { return a.Name == name })
	if at < 0 {
		return Account{}, false
	}
	return i.Accounts[at], true
}

// Serves reports whether endpoint is a URL of this server and the server has the account. The URL must contain the
// server's own host, or a loopback address with the server's port.
func (i *Info) Serves(endpoint, account string) bool {
	u, err := url.Parse(endpoint)
	if _, known := i.Find(account); err != nil || !known {
		return false
	}
	if own, err := url.Parse(i.URL); err == nil && strings.EqualFold(own.Host, u.Host) {
		return true
	}
	at, err := netip.ParseAddrPort(i.Listens)
	if err != nil || !at.Addr().IsLoopback() && !at.Addr().IsUnspecified() {
		return false
	}
	return u.Port() == strconv.Itoa(int(at.Port())) && cli.LoopbackHost(u.Hostname())
}
