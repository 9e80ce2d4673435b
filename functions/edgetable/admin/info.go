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
	URL      string    `json:"url"`     // base URL, without an account
	Listens  string    `json:"listens"` // host:port
	File     string    `json:"file"`    // accounts file, or ""; without a file, last uses before the server's start are unknown
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

// Serves reports whether endpoint is a URL of this server and the account exists. The host must be the server's own, or
// a loopback address with the server's port.
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
