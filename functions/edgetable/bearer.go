package main

import (
	"context"
	"flag"
	"log/slog"
	"strings"

	"edgetable/adapters/identity/oidc"
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
	f.StringVar(&o.claim, "oidc-roles-claim", "", "`claim` with the roles; default roles")
	f.Var(&o.readers, "oidc-reader", "`role` that may read; may be repeated; default Storage Table Data Reader")
	f.Var(&o.contributors, "oidc-contributor", "`role` that may read and write; may be repeated; default Storage Table Data Contributor")
}

// verifier makes the verifier of bearer tokens; nil if there is no issuer.
func (o *bearerFlags) verifier(ctx context.Context, log *slog.Logger) (*oidc.Verifier, error) {
	v, err := oidc.Optional(ctx, oidc.Options{
		Issuer: o.issuer, Audiences: o.audiences, JWKS: o.jwks,
		RolesClaim: o.claim, ReaderRoles: o.readers, ContributorRoles: o.contributors,
		Log: log,
	})
	if err != nil {
		return nil, misuse("-oidc flags: %v", err)
	}
	return v, nil
}
