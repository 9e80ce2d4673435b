// Package wire is a deliberately small HTTP/1.1 client for measuring table servers.
//
// The load generator shares two cores with the server under test, so it must need little CPU time. Each worker has
// one persistent TCP (or TLS) connection and sends each request with one Write from a reused buffer. The response
// parser reads only the headers that it needs. The date in a SharedKeyLite signature is cached for a second. This
// client is not for general use: it has no redirects, trailers, pipelining or retries, because a benchmark must see
// every failure.
package wire

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
)

// Version is the default value of x-ms-version. Azure's own client libraries for tables send the same value.
const Version = "2019-02-02"

// Target identifies a server and an account. Create one with NewTarget.
type Target struct {
	Addr    string // host:port to dial
	Host    string // Host header
	TLS     bool
	Base    string // path prefix of every resource: "/devstoreaccount1" if the path names the account, "" if the host names it
	URL     string // scheme, host and Base, without a final slash
	Account string
	Version string // x-ms-version
	From    string // local address of the connection; "" means any
	key     *sharedkey.Key
	token   string // query string of a shared access signature; if set, it is used instead of the key
}

// NewTarget parses the URL of an account, as connection strings contain it: http(s)://host[:port][/account]. Requests
// are signed with the first key of the account.
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

// Development returns an account that has the public key of Azurite's development account, for test servers.
func Development(name string) *sharedkey.Account {
	key, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	if err != nil {
		panic(err) // cannot happen, because the key is a constant
	}
	return &sharedkey.Account{Name: name, Keys: [2]*sharedkey.Key{key}}
}

// WithToken returns a copy of the target that uses a shared access signature instead of the key. token is a query
// string made by [edgetable/core/sas].
func (t Target) WithToken(token string) Target {
	t.token = token
	return t
}
