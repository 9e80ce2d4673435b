package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"edgetable/adapters/identity/oidc"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

// bearer verifies the bearer tokens of one issuer. Its keys are read when the
// first token comes.
type bearer struct {
	verifier  *oidc.Verifier
	issuer    string
	challenge string
	said      atomic.Int64 // when the log said last that it cannot verify, in seconds
}

// newBearer reads the environment. It is nil if no issuer is named there.
func newBearer(env func(string) string, client *http.Client) (*bearer, error) {
	const prefix = "EDGETABLE_OIDC_"
	list := func(name string) (values []string) {
		for value := range strings.SplitSeq(env(prefix+name), ",") {
			if value = strings.TrimSpace(value); value != "" {
				values = append(values, value)
			}
		}
		return values
	}
	o := oidc.Options{
		Issuer: env(prefix + "ISSUER"), JWKS: env(prefix + "JWKS"), Audiences: list("AUDIENCES"), RolesClaim: env(prefix + "ROLES_CLAIM"),
		ReaderRoles: list("READERS"), ContributorRoles: list("CONTRIBUTORS"), HTTP: client,
	}
	switch {
	case o.Issuer != "" && len(o.Audiences) == 0:
		return nil, errors.New(prefix + "ISSUER needs " + prefix + "AUDIENCES: without it, tokens for other services of the issuer would do")
	case o.Issuer == "" && (o.JWKS != "" || o.RolesClaim != "" || len(o.Audiences)+len(o.ReaderRoles)+len(o.ContributorRoles) > 0):
		return nil, errors.New("the variables " + prefix + "… need " + prefix + "ISSUER")
	case o.Issuer == "":
		return nil, nil
	}
	v, err := oidc.New(context.Background(), o) // which lives as long as the process
	if err != nil {
		return nil, err
	}
	return &bearer{
		verifier: v, issuer: o.Issuer,
		challenge: "Bearer authorization_uri=" + strings.TrimSuffix(o.Issuer, "/") + "/oauth2/authorize resource_id=" + o.Audiences[0],
	}, nil
}

// verify is for protocol.Handler. Why the issuer's keys cannot be read stands in
// the log, once in a while: clients are only told to come again.
func (b *bearer) verify(ctx context.Context, token string, log *slog.Logger) (protocol.Identity, error) {
	id, err := b.verifier.Bearer(ctx, token)
	if errors.Is(err, oidc.ErrUnavailable) {
		last, now := b.said.Load(), time.Now().Unix()
		if now-last >= 10 && b.said.CompareAndSwap(last, now) {
			cause := err
			if e, ok := errors.AsType[*table.Error](err); ok {
				cause = e.Unwrap()
			}
			log.ErrorContext(ctx, "bearer tokens are refused for now", "issuer", b.issuer, "cause", cause)
		}
	}
	return id, err
}
