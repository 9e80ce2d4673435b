// Package scene creates the server to which package wiretest plays a transcript. A WebAssembly module can contain this
// package without package wiretest.
package scene

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/throttle"
	"edgetable/testdata/memstore"
)

// Start is the time of the server's clock before the first exchange.
var Start = time.Date(2026, time.March, 4, 5, 6, 7, 123456700, time.UTC)

// Clock is a clock that a test sets. The zero Clock shows [Start].
type Clock struct{ since atomic.Int64 }

// Set sets the clock to t.
func (c *Clock) Set(t time.Time) { c.since.Store(int64(t.Sub(Start))) }

// Now returns the time of the clock.
func (c *Clock) Now() edm.Ticks { return edm.TicksOf(Start.Add(time.Duration(c.since.Load()))) }

// Account is the account of most scenarios. AccountKey is its well-known key, which is also the first key of all
// other accounts.
const (
	Account    = "devstoreaccount1"
	AccountKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	SecondKey  = "c2Vjb25kIGtleQ=="
	WrongKey   = "d3Jvbmcga2V5"
)

// challenge is the header WWW-Authenticate as recorded from the service, but with a tenant that does not exist.
const challenge = "Bearer authorization_uri=https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/oauth2/authorize resource_id=https://storage.azure.com"

// Accounts returns the accounts of the server. They are the same in every scenario.
func Accounts() map[string]*protocol.Account {
	first, second := mustKey(AccountKey), mustKey(SecondKey)
	list := make(map[string]*protocol.Account)
	for _, name := range []string{Account, "secondaccount", "disabledaccount", "httpsaccount", "walledaccount", "twokeys"} {
		list[name] = &protocol.Account{Account: sharedkey.Account{Name: name, Keys: [2]*sharedkey.Key{first}}}
	}
	list["disabledaccount"].Disabled = true
	list["httpsaccount"].HTTPS = true
	list["walledaccount"].Firewall.Allow = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	list["twokeys"].Keys[1] = second
	return list
}

func mustKey(text string) *sharedkey.Key {
	k, err := sharedkey.ParseKey(text)
	if err != nil {
		panic(err) // cannot happen: all keys are valid constants
	}
	return k
}

// bearer accepts the bearer tokens that occur in transcripts.
func bearer(_ context.Context, token string) (protocol.Identity, error) {
	id := protocol.Identity{ObjectID: "11111111-2222-3333-4444-555555555555", TenantID: "66666666-7777-8888-9999-000000000000"}
	switch token {
	case "reader":
		return id, nil
	case "contributor":
		id.Contributor = true
		return id, nil
	case "unavailable":
		return id, table.ServerBusy.With("The identity provider cannot be reached.")
	}
	return protocol.Identity{}, errors.New("the token is neither reader nor contributor")
}

// New returns an empty server over the reference store, configured by the directives of a transcript. withTimeout
// becomes [protocol.Handler.WithTimeout].
func New(clock *Clock, directives []string, withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)) (*protocol.Handler, error) {
	return Over(memstore.New(clock.Now), clock, directives, withTimeout)
}

// Patient can be the argument withTimeout of [New]. It sets no time limit. It is for stores in another process, which
// may be slow on a busy machine.
func Patient(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// Over returns a server like [New], but over another store, which must be empty.
func Over(empty table.Store, clock *Clock, directives []string, withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)) (*protocol.Handler, error) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	number := func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Uint64()
	}
	known := Accounts()
	store := &faults{Store: empty, errors: make(map[string]error), clock: clock}
	h := &protocol.Handler{
		Service: table.New(store, table.Options{Now: clock.Now, Rand: number}),
		Accounts: func(name string) (*protocol.Account, bool) {
			a, ok := known[name]
			return a, ok
		},
		Bearer:      bearer,
		Challenge:   challenge,
		Now:         clock.Now,
		NewID:       protocol.RandomID(number),
		WithTimeout: withTimeout,
		MaxSkew:     sharedkey.MaxSkew,
	}
	for _, d := range directives {
		if err := obey(h, store, clock, d); err != nil {
			return nil, fmt.Errorf("server: %s: %w", d, err)
		}
	}
	return h, nil
}

// obey configures the server as one directive demands.
func obey(h *protocol.Handler, store *faults, clock *Clock, directive string) error {
	word, rest, _ := strings.Cut(directive, " ")
	switch {
	case directive == "no bearer":
		h.Bearer, h.Challenge = nil, ""
	case directive == "any date":
		h.MaxSkew = 0
	case directive == "extensions":
		h.Extensions = true
	case directive == "reference store":
		store.Store = memstore.New(clock.Now) // this store is for transcripts that need optional interfaces
	case directive == "path style":
		h.PathStyle = true
	case word == "lag":
		lag, err := time.ParseDuration(rest)
		store.behind = edm.Ticks(lag / 100)
		return err
	case word == "limits":
		return limit(&h.Limits, clock, rest)
	case word == "store":
		return store.fail(rest)
	default:
		return errors.New("nothing that a server understands")
	}
	return nil
}

// limit sets the limits in a text such as account=1/s burst=2.
func limit(l *protocol.Limits, clock *Clock, text string) error {
	o := throttle.Options{Now: clock.Now}
	what, rate, _ := strings.Cut(text, "=")
	if _, err := fmt.Sscanf(rate, "%g/s burst=%g", &o.Rate, &o.Burst); err != nil {
		return err
	}
	b := throttle.New(o)
	switch what {
	case "account":
		l.Account = b
	case "partition":
		l.Partition = b
	case "failures":
		l.Failures = b
	default:
		return errors.New("there are limits of account, partition and failures")
	}
	return nil
}
