// Package remotetest starts table services for the tests of clients.
package remotetest

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/accounts"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
	"edgetable/testdata/must"
)

// Start serves an empty account in memory, on loopback, until the test ends. It returns the connection string. The
// function wrap may change how requests are served; it may be nil.
func Start(t testing.TB, wrap func(httpserver.Protocol) httpserver.Protocol) string {
	t.Helper()
	now := func() edm.Ticks { return edm.TicksOf(time.Now()) }
	key, err := sharedkey.ParseKey(accounts.DevelopmentKey)
	must.OK(t, err)
	account := &protocol.Account{Account: sharedkey.Account{Name: "acme", Keys: [2]*sharedkey.Key{key}}}
	var h httpserver.Protocol = &protocol.Handler{
		Service:  table.New(memstore.New(now), table.Options{Now: now, Rand: rand.Uint64}),
		Accounts: func(name string) (*protocol.Account, bool) { return account, name == account.Name },
		Now:      now,
		NewID:    func() (id [16]byte) { return id },
		MaxSkew:  time.Hour,
	}
	if wrap != nil {
		h = wrap(h)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	server := &httpserver.Server{Handler: &httpserver.Handler{Protocol: h}, Log: slog.New(slog.DiscardHandler), Grace: time.Second}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		<-done // the error is ignored, because a client may still have an open connection
	})
	return fmt.Sprintf("AccountName=acme;AccountKey=%s;TableEndpoint=http://%s/acme", accounts.DevelopmentKey, l.Addr())
}
