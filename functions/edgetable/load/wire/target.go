// Package wire implements a minimal HTTP/1.1 client for benchmarks of table servers. It uses little CPU time, because
// the load generator shares two cores with the server.
//
// Each worker has a persistent connection, and sends each request with a single Write from a reused buffer. There are
// no redirects, trailers, pipelining or retries.
package wire

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
)

// Version is the default x-ms-version, which is also the version of Azure's client libraries for tables.
const Version = "2019-02-02"

// Target is a server and an account. It is created by NewTarget.
type Target struct {
	Addr    string // address to dial, as host:port
	Host    string // value of the header Host
	TLS     bool
	Base    string // path prefix of all resources: "/devstoreaccount1" if the account is in the path, "" if it is in the host
	URL     string // scheme, host and Base, without a trailing slash
	Account string
	Version string // value of the header x-ms-version
	From    string // local address of the connections; "" for any address
	key     *sharedkey.Key
	token   string // query string of a SAS that replaces the key, or ""
}

// NewTarget returns the Target for the URL of an account, http(s)://host[:port][/account]. Requests are signed with the
// account's first key.
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

// Development returns an account with the public key of Azurite's development account, for test servers.
func Development(name string) *sharedkey.Account {
	key, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	if err != nil {
		panic(err) // this cannot happen, because the key is a constant
	}
	return &sharedkey.Account{Name: name, Keys: [2]*sharedkey.Key{key}}
}

// WithToken returns a copy of the target that uses a SAS instead of the key. The SAS is a query string from
// [edgetable/core/sas].
func (t Target) WithToken(token string) Target {
	t.token = token
	return t
}
