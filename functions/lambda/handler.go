package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"edgetable/adapters/identity/awssecrets"
	"edgetable/adapters/setting"
	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/accounts"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// newHandler returns the handler of all events. It contacts no other service.
func newHandler(c *config, store table.Store, tasks *worker, log *slog.Logger) *lambdaurl.Handler {
	known := &awssecrets.Cache[accounts.List]{Options: awssecrets.Options[accounts.List]{
		Name: "accounts", Read: c.accounts, Parse: ownAccounts,
		Refresh: c.refresh, MaxStale: maxStale, Log: log, Now: time.Now,
	}}
	h := &lambdaurl.Handler{
		Protocol: newServer(c, store, known, 0),
		Observe:  newMetrics(c.metrics, c.table, log).observe,
		Task:     func(ctx context.Context, event json.RawMessage) error { return tasks.task(ctx, event, log) },
	}
	if !c.streaming {
		h.Protocol = newServer(c, store, known, lambdaurl.PageBytes[0])
		for _, n := range lambdaurl.PageBytes[1:] {
			h.Narrow = append(h.Narrow, newServer(c, store, known, n))
		}
	}
	if c.forward != nil {
		shown := &awssecrets.Cache[string]{Options: awssecrets.Options[string]{
			Name: "forward secret", Read: c.forward,
			Parse:   func(_, text string) (string, error) { return strings.TrimSpace(text), nil },
			Refresh: c.refresh, MaxStale: maxStale, Log: log, Now: time.Now,
		}}
		h.Secret = shown.Get
	}
	return h
}

// misconfigured is an error in the text of the list of accounts. A retry does not help.
type misconfigured struct{ error }

// Errors about accounts in responses to clients. Only the log contains the details, which may include a key.
var (
	errDevelopment = table.InternalError.With("The server is misconfigured: the key of the development account is known to everybody. Give the accounts keys of their own.")
	errAccounts    = table.InternalError.With("The server is misconfigured: its list of accounts is wrong. The log says what is wrong.")
	errUnread      = table.ServerBusy.With("The accounts cannot be read at present.")
)

// ownAccounts parses a list of accounts. It returns an error if the list contains the development account.
func ownAccounts(old accounts.List, text string) (accounts.List, error) {
	list, err := old.Next(text)
	switch {
	case err != nil:
		return nil, misconfigured{err}
	case list.HasDevelopmentKey():
		return nil, errDevelopment
	}
	return list, nil
}

// server serves requests. Before each request, it gets the accounts from a cache, which reads them at intervals.
type server struct {
	*protocol.Handler
	known   *awssecrets.Cache[accounts.List]
	current atomic.Pointer[accounts.List]
}

// newServer returns a server whose pages have at most pageBytes bytes; 0 means the default of package table.
func newServer(c *config, store table.Store, known *awssecrets.Cache[accounts.List], pageBytes int) *server {
	s := &server{known: known}
	s.current.Store(&accounts.List{})
	s.Handler = &protocol.Handler{
		// Nonces and request ids must be unique but need not be secret.
		Service: table.New(store, table.Options{
			Now: now, Rand: rand.Uint64,
			Budget: table.Budget{Bytes: pageBytes, ScanBytes: c.scannedBytes},
		}),
		Accounts:    func(name string) (*protocol.Account, bool) { return s.current.Load().Find(name) },
		Now:         now,
		NewID:       newID,
		WithTimeout: context.WithTimeout,
		MaxSkew:     sharedkey.MaxSkew,
		PathStyle:   c.pathStyle,
		Extensions:  c.extensions,
		SettingsAge: setting.NegativeIfZero(c.settingsAge),
		Secondary:   func() bool { return c.role == dynamodb.SecondaryRole },
	}
	c.bearer.Install(s.Handler)
	return s
}

func now() edm.Ticks { return edm.TicksOf(time.Now()) }

var newID = protocol.RandomID(rand.Uint64)

// Serve implements lambdaurl.Protocol. If the accounts cannot be read, Serve refuses the request, and only the log
// contains the reason.
func (s *server) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	list, err := s.known.Get(ctx)
	if err != nil {
		switch {
		case errors.Is(err, errDevelopment):
			return s.Refuse(req, errDevelopment)
		case errors.As(err, new(misconfigured)):
			return s.Refuse(req, errAccounts)
		}
		return s.Refuse(req, errUnread)
	}
	s.current.Store(&list)
	return s.Handler.Serve(ctx, req)
}
