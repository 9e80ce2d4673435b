package server

import (
	"context"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/adapters/identity/oidc"
	"edgetable/functions/edgetable/cli"
)

type bearerFlags struct {
	issuer, jwks string
	audiences    []string
	roles        []string // rules for roles, such as read=NAME
}

func (o *bearerFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.issuer, "oidc-issuer", "", "`URL` of the OpenID Connect issuer whose bearer tokens are accepted, exactly as in the tokens' iss claim; default none")
	f.StringSliceVar(&o.audiences, "oidc-audiences", nil, "accepted `values` of the tokens' aud claim, such as https://storage.azure.com")
	f.StringVar(&o.jwks, "oidc-jwks", "", "`URL` of the issuer's keys; default from its discovery document")
	f.StringSliceVar(&o.roles, "oidc-roles", nil, "`rules` for roles: read=ROLE may read, write=ROLE may read and write, claim=NAME is the claim with the roles; "+
		"default read=Storage Table Data Reader, write=Storage Table Data Contributor, claim=roles")
}

// bearerFlag replaces terms in the errors of package oidc by the names of the flags.
var bearerFlag = strings.NewReplacer("oidc: no issuer", "--oidc-issuer is missing", "oidc: issuer", "--oidc-issuer", "oidc: key set", "--oidc-jwks", "oidc: no audience, or an empty one", "--oidc-audiences is missing or empty", "oidc: an empty role", "--oidc-roles has an empty role", "oidc: ", "")

// verifier returns the verifier of bearer tokens. It returns nil if no issuer is configured.
func (o *bearerFlags) verifier(ctx context.Context, log *slog.Logger) (*oidc.Verifier, error) {
	options := oidc.Options{Issuer: o.issuer, Audiences: o.audiences, JWKS: o.jwks, Log: log}
	for _, rule := range o.roles {
		switch what, name, _ := strings.Cut(rule, "="); strings.TrimSpace(what) {
		case "read":
			options.ReaderRoles = append(options.ReaderRoles, name)
		case "write":
			options.ContributorRoles = append(options.ContributorRoles, name)
		case "claim":
			options.RolesClaim = name
		default:
			return nil, cli.Misuse("--oidc-roles %q: write read=ROLE, write=ROLE or claim=NAME", rule)
		}
	}
	v, err := oidc.Optional(ctx, options)
	if err != nil {
		return nil, cli.Misuse("%s", bearerFlag.Replace(err.Error()))
	}
	return v, nil
}
