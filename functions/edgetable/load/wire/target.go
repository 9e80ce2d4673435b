// Package wire is a deliberately small HTTP/1.1 client for measuring table servers.
//
// A load generator that shares two cores with the server under test must cost next to nothing: one persistent TCP (or
// TLS) connection per worker, one Write per request from a reused buffer, a response parser that reads only the
// headers it needs, and a SharedKeyLite signature with the date cached for a second. It is no general client: it has
// no redirects, trailers, pipelining or retries, because a benchmark must see every failure.
package wire

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
)

// Version is the default x-ms-version, the one that the service's own clients for tables send.
const Version = "2019-02-02"

// Target identifies a server and an account. Create one with NewTarget.
type Target struct {
	Addr    string // host:port to dial
	Host    string // Host header
	TLS     bool
	Base    string // path prefix of every resource: "/devstoreaccount1" in path style, "" in host style
	URL     string // scheme, host and Base, without a final slash
	Account string
	Version string // x-ms-version
	From    string // local address to connect from; "" means any
	key     *sharedkey.Key
	token   string // a shared access signature to use instead of the key
}

// NewTarget parses an endpoint as in connection strings: http(s)://host[:port][/account]. Requests are signed with
// the account's first key.
func NewTarget(endpoint string, account *sharedkey.Account) (Target, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return Target{}, fmt.Errorf("endpoint %q is not of the form http(s)://host[:port][/account]", endpoint)
	}
	if u.RawQuery != "" || u.User != nil {
		return Target{}, fmt.Errorf("endpoint of %s must have no query and no user", u.Host)
	}
	t := Target{Addr: u.Host, Host: u.Host, TLS: u.Scheme == "https", Account: account.Name, Version: Version, key: account.Keys[0]}
	t.Base = strings.TrimRight(u.EscapedPath(), "/")
	t.URL = u.Scheme + "://" + u.Host + t.Base
	if u.Port() == "" {
		port := "80"
		if t.TLS {
			port = "443"
		}
		t.Addr = net.JoinHostPort(u.Hostname(), port)
	}
	return t, nil
}

// Development returns an account with the public key of the development account, for test servers.
func Development(name string) *sharedkey.Account {
	key, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	if err != nil {
		panic(err) // cannot happen: the key is a constant
	}
	return &sharedkey.Account{Name: name, Keys: [2]*sharedkey.Key{key}}
}

// WithToken returns the target with a shared access signature instead of the key. token is a query as
// [edgetable/core/sas] signs it.
func (t Target) WithToken(token string) Target {
	t.token = token
	return t
}
