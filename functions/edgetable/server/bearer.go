package server

import (
	"context"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/adapters/identity/oidc"
	"edgetable/functions/edgetable/cli"
)

// bearerFlags say whose bearer tokens are accepted.
type bearerFlags struct {
	issuer, jwks, claim   string
	audiences             []string
	readers, contributors []string
}

func (o *bearerFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.issuer, "oidc-issuer", "", "`URL` of the OpenID Connect issuer whose bearer tokens are accepted, as its tokens have it in iss; default none")
	f.StringSliceVar(&o.audiences, "oidc-audiences", nil, "`values` one of which a token must have in aud, such as https://storage.azure.com")
	f.StringVar(&o.jwks, "oidc-jwks", "", "`URL` of the issuer's keys; default from its discovery document")
	f.StringVar(&o.claim, "oidc-roles-claim", "", "`claim` with the roles; default roles")
	f.StringSliceVar(&o.readers, "oidc-readers", nil, "`roles` that may read; default Storage Table Data Reader")
	f.StringSliceVar(&o.contributors, "oidc-contributors", nil, "`roles` that may read and write; default Storage Table Data Contributor")
}

// bearerFlag writes flags for what errors of the package oidc are about.
var bearerFlag = strings.NewReplacer("oidc: no issuer", "--oidc-issuer is missing", "oidc: issuer", "--oidc-issuer", "oidc: key set", "--oidc-jwks", "oidc: no audience, or an empty one", "--oidc-audiences is missing or empty", "oidc: an empty role", "--oidc-readers or --oidc-contributors has an empty role", "oidc: ", "")

// verifier makes the verifier of bearer tokens; nil if there is no issuer.
func (o *bearerFlags) verifier(ctx context.Context, log *slog.Logger) (*oidc.Verifier, error) {
	v, err := oidc.Optional(ctx, oidc.Options{
		Issuer: o.issuer, Audiences: o.audiences, JWKS: o.jwks,
		RolesClaim: o.claim, ReaderRoles: o.readers, ContributorRoles: o.contributors,
		Log: log,
	})
	if err != nil {
		return nil, cli.Misuse("%s", bearerFlag.Replace(err.Error()))
	}
	return v, nil
}
