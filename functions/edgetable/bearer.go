package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"edgetable/adapters/identity/oidc"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

// bearerFlags say whose bearer tokens are accepted.
type bearerFlags struct {
	issuer, jwks, claim   string
	audiences             list
	readers, contributors list
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ", ") }

func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

func (o *bearerFlags) register(f *flag.FlagSet) {
	f.StringVar(&o.issuer, "oidc-issuer", "", "`URL` of the OpenID Connect issuer whose bearer tokens are accepted, as its tokens have it in iss; default none")
	f.Var(&o.audiences, "oidc-audience", "`value` that a token must have in aud, such as https://storage.azure.com; may be repeated")
	f.StringVar(&o.jwks, "oidc-jwks", "", "`URL` of the issuer's keys; default from its discovery document")
	f.StringVar(&o.claim, "oidc-roles-claim", "roles", "`claim` with the roles")
	f.Var(&o.readers, "oidc-reader", "`role` that may read; may be repeated; default Storage Table Data Reader")
	f.Var(&o.contributors, "oidc-contributor", "`role` that may read and write; may be repeated; default Storage Table Data Contributor")
}

func (o *bearerFlags) check() error {
	switch {
	case o.issuer == "" && (len(o.audiences) > 0 || o.jwks != "" || o.claim != "roles" || len(o.readers) > 0 || len(o.contributors) > 0):
		return misuse("the -oidc flags need -oidc-issuer")
	case o.issuer != "" && len(o.audiences) == 0:
		return misuse("-oidc-issuer needs -oidc-audience: without it, tokens for other services of the issuer would do")
	}
	return nil
}

// verifier verifies bearer tokens; nil if none are accepted. Why the issuer's
// keys cannot be read stands in the log, once in a while: clients are only told
// to try again.
func (o *bearerFlags) verifier(ctx context.Context, log *slog.Logger) (func(context.Context, string) (protocol.Identity, error), error) {
	if o.issuer == "" {
		return nil, nil
	}
	v, err := oidc.New(ctx, oidc.Options{
		Issuer: o.issuer, Audiences: o.audiences, JWKS: o.jwks,
		RolesClaim: o.claim, ReaderRoles: o.readers, ContributorRoles: o.contributors,
	})
	if err != nil {
		return nil, err
	}
	var said atomic.Int64 // when the log said so last, in seconds
	say := func(err error) {
		if !errors.Is(err, oidc.ErrUnavailable) {
			return
		}
		if e, ok := errors.AsType[*table.Error](err); ok {
			err = e.Unwrap()
		}
		if last, now := said.Load(), time.Now().Unix(); now-last >= 10 && said.CompareAndSwap(last, now) {
			log.Warn("bearer tokens are refused for now", "issuer", o.issuer, "cause", err)
		}
	}
	go func() { // an issuer that is down, or misspelt, keeps nobody with a key from the tables
		if err := v.Ready(ctx); ctx.Err() == nil {
			say(err)
		}
	}()
	return func(ctx context.Context, token string) (protocol.Identity, error) {
		id, err := v.Bearer(ctx, token)
		say(err)
		return id, err
	}, nil
}

// challenge tells clients where to get a token, in the service's words.
func (o *bearerFlags) challenge() string {
	if o.issuer == "" {
		return ""
	}
	return "Bearer authorization_uri=" + strings.TrimSuffix(o.issuer, "/") + "/oauth2/authorize resource_id=" + o.audiences[0]
}
