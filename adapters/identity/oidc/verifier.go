package oidc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"
)

// maxToken is the maximum size of a token in bytes.
const maxToken = 16 << 10

// Reasons for refusing a token; compare them with errors.Is.
var (
	errMalformed   = errors.New("oidc: not a signed token with the required claims")
	errAlgorithm   = errors.New("oidc: the token's signature algorithm is not accepted")
	errIssuer      = errors.New("oidc: the token was issued by another issuer")
	errAudience    = errors.New("oidc: the token is for another audience")
	errExpired     = errors.New("oidc: the token has expired")
	errNotYet      = errors.New("oidc: the token is not valid yet")
	errKey         = errors.New("oidc: the issuer has no key with the token's key ID")
	errSignature   = errors.New("oidc: the token's signature is wrong")
	errNoRole      = errors.New("oidc: the token has no role for tables")
	errUnavailable = errors.New("oidc: the issuer's keys cannot be read") // the token may still be valid
	errCrowd       = errors.New("oidc: too many tokens are waiting for the issuer's keys")
	errStrange     = errors.New("oidc: the token's key ID is not among the issuer's keys that were read last") // this error is wrapped together with errUnavailable
)

// role is what a user may do with tables. A higher role includes the lower roles.
type role uint8

const (
	none role = iota
	reader
	contributor
)

// identity is the sender of a token, as certified by the issuer.
type identity struct {
	ObjectID string // claim oid, or claim sub if there is no oid; never empty
	TenantID string // claim tid; empty for issuers without tenants
	Audience []string
	Role     role
	Expiry   time.Time
}

// Verifier verifies the tokens of one issuer. It is safe for concurrent use.
type Verifier struct {
	issuer       string
	audiences    []string
	rolesClaim   string
	readers      []string
	contributors []string
	now          func() time.Time
	keyring      keyring
}

// newVerifier returns a Verifier without contacting the issuer. Later requests to the issuer use ctx, which must live
// as long as the Verifier.
func newVerifier(ctx context.Context, o Options) (*Verifier, error) {
	source, err := o.source()
	if err != nil {
		return nil, err
	}
	if len(o.Audiences) == 0 || slices.Contains(o.Audiences, "") {
		return nil, errors.New("oidc: no audience, or an empty one: tokens for other services of the issuer would be accepted")
	}
	if slices.Contains(o.ReaderRoles, "") || slices.Contains(o.ContributorRoles, "") {
		return nil, errors.New("oidc: an empty role")
	}
	v := &Verifier{
		issuer:       o.Issuer,
		audiences:    slices.Clone(o.Audiences),
		rolesClaim:   cmp.Or(o.RolesClaim, "roles"),
		readers:      slices.Clone(o.ReaderRoles),
		contributors: slices.Clone(o.ContributorRoles),
		now:          o.Now,
	}
	if len(v.readers) == 0 {
		v.readers = []string{"Storage Table Data Reader", "StorageTableDataReader"}
	}
	if len(v.contributors) == 0 {
		v.contributors = []string{"Storage Table Data Contributor", "StorageTableDataContributor"}
	}
	if v.now == nil {
		v.now = time.Now
	}
	v.keyring = keyring{ctx: ctx, read: source.read, now: v.now, log: keyLog{log: o.Log, issuer: o.Issuer}, withTimeout: context.WithTimeout}
	return v, nil
}

// Ready reads the issuer's keys unless they are known. A server calls it to report wrong options at its start. The
// error wraps errUnavailable and its cause.
func (v *Verifier) Ready(ctx context.Context) error {
	if v.keyring.currentKeys() != nil {
		return nil
	}
	_, err := v.keyring.newerKeys(ctx, nil)
	return err
}

// identify returns the identity of a token's sender. With errNoRole, it also returns the identity, for the log. Its
// errors contain no part of the token.
func (v *Verifier) identify(ctx context.Context, token string) (identity, error) {
	if len(token) > maxToken {
		return identity{}, errMalformed
	}
	hash := sha256.Sum256([]byte(token))
	keys := v.keyring.currentKeys()
	var id identity
	var known bool
	if keys != nil {
		id, known = keys.verified.get(hash, v.now())
	}
	if !known {
		var err error
		if id, keys, err = v.verify(ctx, token, keys); err != nil {
			return identity{}, err
		}
		keys.verified.put(hash, id)
	}
	if id.Role == none {
		return id, errNoRole
	}
	return id, nil
}

// verify verifies a token, and also returns the keys that verified the signature. It checks the claims before the
// signature, because this is cheaper and avoids reading keys for a token of another issuer.
func (v *Verifier) verify(ctx context.Context, token string, keys *keys) (identity, *keys, error) {
	t, err := jwt.ParseSigned(token, asymmetric)
	if err != nil {
		if _, ok := errors.AsType[*jose.ErrUnexpectedSignatureAlgorithm](err); ok {
			return identity{}, nil, errAlgorithm
		}
		return identity{}, nil, errMalformed
	}
	var c claims
	var all map[string]json.RawMessage
	if t.UnsafeClaimsWithoutVerification(&c, &all) != nil {
		return identity{}, nil, errMalformed
	}
	if err := v.check(&c); err != nil {
		return identity{}, nil, err
	}
	if keys, err = v.verifySignature(ctx, t, keys); err != nil {
		return identity{}, nil, err
	}
	return identity{
		ObjectID: cmp.Or(c.ObjectID, c.Subject),
		TenantID: c.TenantID,
		Audience: c.Audience,
		Role:     v.role(all[v.rolesClaim]),
		Expiry:   c.Expiry.Time(),
	}, keys, nil
}

// claims contains the claims whose names do not depend on the options.
type claims struct {
	jwt.Claims
	ObjectID string `json:"oid"`
	TenantID string `json:"tid"`
}

func (v *Verifier) check(c *claims) error {
	if c.Expiry == nil || c.ObjectID == "" && c.Subject == "" {
		return errMalformed
	}
	now := v.now()
	err := c.Validate(jwt.Expected{Issuer: v.issuer, AnyAudience: v.audiences, Time: now})
	switch {
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return errIssuer
	case errors.Is(err, jwt.ErrInvalidAudience):
		return errAudience
	case !now.Before(c.Expiry.Time()): // Validate allows a minute for clock differences, but the expiry must be exact
		return errExpired
	case err != nil:
		return errNotYet
	}
	return nil
}

// verifySignature verifies the signature of a token and returns the keys that it used. It tries to read newer keys if
// keys is nil or lacks the token's key.
func (v *Verifier) verifySignature(ctx context.Context, t *jwt.JSONWebToken, keys *keys) (*keys, error) {
	if keys != nil {
		if err := keys.verifySignature(t); err != errKey {
			return keys, err
		}
	}
	ctx, cancel := v.keyring.withTimeout(ctx, wait)
	defer cancel()
	younger, err := v.keyring.newerKeys(ctx, keys)
	if err != nil {
		if keys != nil && errors.Is(err, errUnavailable) {
			err = fmt.Errorf("%w: %w", err, errStrange)
		}
		return nil, err
	}
	return younger, younger.verifySignature(t)
}

// role returns the highest role in a claim, which is a string or a list of strings. It returns none for any other
// claim.
func (v *Verifier) role(claim json.RawMessage) role {
	var list []string
	if one := ""; json.Unmarshal(claim, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(claim, &list) != nil {
		return none
	}
	role := none
	for _, name := range list {
		switch {
		case slices.Contains(v.contributors, name):
			return contributor
		case slices.Contains(v.readers, name):
			role = reader
		}
	}
	return role
}
