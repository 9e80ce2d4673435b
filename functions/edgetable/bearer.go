package main

import (
	"context"
	"flag"
	"log/slog"
	"strings"

	"edgetable/adapters/identity/oidc"
	"edgetable/core/protocol"
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

// options are those of a verifier that says in the log why tokens are refused.
func (o *bearerFlags) options(log *slog.Logger) oidc.Options {
	return oidc.Options{
		Issuer: o.issuer, Audiences: o.audiences, JWKS: o.jwks,
		RolesClaim: o.claim, ReaderRoles: o.readers, ContributorRoles: o.contributors,
		Log: log,
	}
}

// accept has a handler accept the bearer tokens, if an issuer is named.
func (o *bearerFlags) accept(ctx context.Context, h *protocol.Handler, log *slog.Logger) error {
	if o.issuer == "" {
		return nil
	}
	options := o.options(log)
	v, err := oidc.New(ctx, options)
	if err != nil {
		return err
	}
	h.Bearer, h.Challenge = v.Bearer, options.Challenge()
	// Ready reads the keys now, so that a misspelt issuer shows in the log. It keeps
	// nobody with an account key from the tables.
	go func() { _ = v.Ready(ctx) }()
	return nil
}
