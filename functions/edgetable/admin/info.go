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

// Info is the state that a server reports. It contains no keys.
type Info struct {
	URL      string    `json:"url"`     // base URL of the server, without an account
	Listens  string    `json:"listens"` // address at which the server listens, in the form host:port
	File     string    `json:"file"`    // accounts file; if it is "", last uses before the start of the server are unknown
	Accounts []Account `json:"accounts"`
}

// Account is an account with the last uses of its keys.
type Account struct {
	Name     string `json:"name"`
	Disabled bool   `json:"disabled"`
	File     string `json:"file"` // accounts file of the server
	Keys     []Key  `json:"keys"`
}

// Key is a key of an account: its number, 1 or 2, and its last use, or nil if it was never used.
type Key struct {
	Key      int        `json:"key"`
	LastUsed *time.Time `json:"lastUsed"`
}

// Find returns the account with the given name.
func (i *Info) Find(name string) (Account, bool) {
	at := slices.IndexFunc(i.Accounts, func(a Account) bool { return a.Name == name })
	if at < 0 {
		return Account{}, false
	}
	return i.Accounts[at], true
}

// Serves reports whether endpoint is the URL of an existing account on this server. The host in this URL must be the
// server's host, or a loopback address with the server's port.
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
