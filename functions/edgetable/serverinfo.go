package main

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// serverInfo is what a server tells of itself on its socket. No key is in it.
type serverInfo struct {
	URL      string        `json:"url"`     // what the endpoints of accounts begin with
	Listens  string        `json:"listens"` // host:port
	File     string        `json:"file"`    // of the accounts; "" for none: last uses are known since the server started
	Accounts []accountInfo `json:"accounts"`
}

// accountInfo says when the keys of an account were last used.
type accountInfo struct {
	Name     string    `json:"name"`
	Disabled bool      `json:"disabled"`
	File     string    `json:"file"` // as in serverInfo
	Keys     []keyInfo `json:"keys"`
}

// keyInfo is a key: its number, 1 or 2, and its last use, unless it was never used.
type keyInfo struct {
	Key      int        `json:"key"`
	LastUsed *time.Time `json:"lastUsed"`
}

// find returns an account of the server.
func (i *serverInfo) find(name string) (accountInfo, bool) {
	at := slices.IndexFunc(i.Accounts, func(a accountInfo) bool { return a.Name == name })
	if at < 0 {
		return accountInfo{}, false
	}
	return i.Accounts[at], true
}

// serves reports whether the endpoint of an account is on the server: it has the
// server's URL, or it is its port on this machine.
func (i *serverInfo) serves(endpoint, account string) bool {
	u, err := url.Parse(endpoint)
	if _, known := i.find(account); err != nil || !known {
		return false
	}
	if own, err := url.Parse(i.URL); err == nil && strings.EqualFold(own.Host, u.Host) {
		return true
	}
	at, err := netip.ParseAddrPort(i.Listens)
	if err != nil || !at.Addr().IsLoopback() && !at.Addr().IsUnspecified() {
		return false
	}
	return u.Port() == strconv.Itoa(int(at.Port())) && loopbackHost(u.Hostname())
}
