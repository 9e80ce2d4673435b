package oidc

import (
	"context"
	"errors"
	"strings"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// Optional returns a Verifier, or nil if the options set no issuer, key set, audience, claim or role.
func Optional(ctx context.Context, o Options) (*Verifier, error) {
	if o.Issuer == "" && o.JWKS == "" && o.RolesClaim == "" && len(o.Audiences)+len(o.ReaderRoles)+len(o.ContributorRoles) == 0 {
		return nil, nil
	}
	return newVerifier(ctx, o)
}

// Install makes h accept the verifier's tokens and tell clients where to get a token. It does nothing if v is nil.
func (v *Verifier) Install(h *protocol.Handler) {
	if v != nil {
		h.Bearer = v.bearer
		h.Challenge = "Bearer authorization_uri=" + strings.TrimSuffix(v.issuer, "/") + "/oauth2/authorize resource_id=" + v.audiences[0]
	}
}

// bearer verifies a token for protocol.Handler. The error is 403 if the token has no role, and 503 if the issuer's keys
// cannot be read. For any other error, the handler responds with 401.
func (v *Verifier) bearer(ctx context.Context, token string) (protocol.Identity, error) {
	id, err := v.identify(ctx, token)
	switch {
	case errors.Is(err, errNoRole):
		return protocol.Identity{}, table.AuthorizationPermissionMismatch.Because(err)
	case errors.Is(err, errUnavailable):
		busy := table.ServerBusy.Because(err)
		busy.Message = "The keys of the token's issuer cannot be read at the moment. Please retry your request."
		if errors.Is(err, errStrange) {
			return protocol.Identity{}, errors.Join(busy, protocol.ErrSuspicious)
		}
		return protocol.Identity{}, busy
	case err != nil:
		return protocol.Identity{}, err
	}
	return protocol.Identity{ObjectID: id.ObjectID, TenantID: id.TenantID, Audiences: id.Audience, Contributor: id.Role == contributor}, nil
}
