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

// maxToken is the length of a token, in bytes, beyond which it is not looked at.
const maxToken = 16 << 10

// Why a token is refused; compare with errors.Is.
var (
	errMalformed   = errors.New("oidc: not a signed token with the claims that are needed")
	errAlgorithm   = errors.New("oidc: the token's signature algorithm is not accepted")
	errIssuer      = errors.New("oidc: the token is of another issuer")
	errAudience    = errors.New("oidc: the token is for another audience")
	errExpired     = errors.New("oidc: the token has expired")
	errNotYet      = errors.New("oidc: the token is not valid yet")
	errKey         = errors.New("oidc: the token's key is not one of the issuer's")
	errSignature   = errors.New("oidc: the token's signature is wrong")
	errNoRole      = errors.New("oidc: the token holds no role for tables")
	errUnavailable = errors.New("oidc: the issuer's keys cannot be read") // the token may be good
	errCrowd       = errors.New("oidc: many tokens wait for the issuer's keys already")
	errStrange     = errors.New("oidc: the token's key is not one of those that were read last") // with errUnavailable
)

// role is what somebody may do with tables. A greater one includes the lesser.
type role uint8

// The roles.
const (
	none role = iota
	reader
	contributor
)

// identity is who sends a token, as its issuer says.
type identity struct {
	ObjectID string // the claim oid, else sub; never empty
	TenantID string // the claim tid; empty for issuers without tenants
	Audience []string
	Role     role
	Expiry   time.Time // of the token
}

// Verifier verifies the tokens of one issuer. It may be used concurrently.
type Verifier struct {
	issuer       string
	audiences    []string
	rolesClaim   string
	readers      []string
	contributors []string
	now          func() time.Time
	keyring      keyring
}

// newVerifier is a verifier of tokens as the options demand. It asks the issuer for
// nothing yet. ctx is for later requests, so it must not end before the verifier.
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
	v.keyring = keyring{ctx: ctx, read: source.read, now: v.now, log: keyLog{log: o.Log, issuer: o.Issuer}, within: context.WithTimeout}
	return v, nil
}

// Ready reads the issuer's keys unless they are there already, so that a mistake in
// the options shows before a token comes. The error is errUnavailable with its cause.
func (v *Verifier) Ready(ctx context.Context) error {
	if v.keyring.young() != nil {
		return nil
	}
	_, err := v.keyring.after(ctx, nil)
	return err
}

// identify says whose the token is. The errors are those of this package, and only
// errUnavailable comes with a cause. With errNoRole the identity is there all the
// same, for the log.
func (v *Verifier) identify(ctx context.Context, token string) (identity, error) {
	if len(token) > maxToken {
		return identity{}, errMalformed
	}
	hash := sha256.Sum256([]byte(token))
	keys := v.keyring.young()
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

// verify looks at the claims before the signature: that costs less, says more of
// a token gone astray, and does not ask this issuer for the key of another. What
// the claims say counts only if the signature is right. It returns the keys that
// the token was verified with.
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
	if keys, err = v.signed(ctx, t, keys); err != nil {
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

// claims are those with a fixed name.
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
	case !now.Before(c.Expiry.Time()): // Validate adds a minute, which is for the clocks of issuers
		return errExpired
	case err != nil:
		return errNotYet
	}
	return nil
}

// signed checks the signature, with younger keys if its key is not among these or
// there are none. It returns the keys that it was checked with.
func (v *Verifier) signed(ctx context.Context, t *jwt.JSONWebToken, keys *keys) (*keys, error) {
	if keys != nil {
		if err := keys.signed(t); err != errKey {
			return keys, err
		}
	}
	ctx, cancel := v.keyring.within(ctx, wait)
	defer cancel()
	younger, err := v.keyring.after(ctx, keys)
	if err != nil {
		if keys != nil && errors.Is(err, errUnavailable) {
			err = fmt.Errorf("%w: %w", err, errStrange)
		}
		return nil, err
	}
	return younger, younger.signed(t)
}

// role is the greatest role in a claim: a string or a list of strings. Anything
// else holds none.
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
