package sas

import (
	"net/netip"

	"edgetable/core/edm"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// Policy is a stored access policy of a table. It supplies the fields that a token with its ID in si omits. Deleting or
// changing it revokes these tokens.
type Policy struct {
	ID            string     // ID of 1 to 64 characters, unique in the table
	Start, Expiry *edm.Ticks // times, each nil if it is not set
	Permissions   string     // subset of the letters raud; empty if not set
}

// Context describes the request for Verify.
type Context struct {
	Now    edm.Ticks
	Source netip.Addr // address of the client; if it is zero, Verify rejects tokens with sip
	HTTPS  bool
	// Policy returns a stored access policy of the token's table, or nil if there is none. Verify calls Policy after
	// the signature has been verified, and returns the errors of Policy unchanged.
	Policy func(id string) (*Policy, error)
}

// Verify verifies the token and returns its permissions. It checks the following in order, and returns the first
// failure:
//
//   - the parameters, the signature (by either account key), the stored access policy, start and expiry
//     (AuthenticationFailed);
//   - the client's address (AuthorizationSourceIPMismatch);
//   - the protocol (AuthorizationProtocolMismatch).
//
// A token is valid from start to expiry, both inclusive, without tolerance for clock skew. If both the token and its
// policy set a field, Verify fails with AuthenticationFailed, like the service (which documents status 400).
func (t *Token) Verify(a *sharedkey.Account, c Context) (*Grant, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	role, ok := t.signedBy(a)
	if !ok {
		return nil, t.mismatched(a.Name)
	}
	terms, err := t.terms(&c)
	if err != nil {
		return nil, err
	}
	if err := terms.checkTime(t, c.Now); err != nil {
		return nil, err
	}
	if err := t.reach(&c); err != nil {
		return nil, err
	}
	switch {
	case role != Reader: // without a delegation key, there is no role
	case contains(terms.permissions, 'r'):
		terms.permissions = "r"
	default:
		terms.permissions = ""
	}
	return &Grant{t, terms.permissions, terms.expiry}, nil
}

// signedBy reports whether a key of the account, or a delegation key derived from it, made the signature. For a
// delegation key, it returns the role of the user.
func (t *Token) signedBy(a *sharedkey.Account) (Role, bool) {
	lines := t.lines(make([]string, 0, maxLines), a.Name)
	if t.kind == delegationSAS {
		return t.delegation().findRole(a, t.value(sig), lines)
	}
	return 0, a.VerifyLines(t.value(sig), lines)
}

// terms holds the start, expiry and permissions from a token and its policy.
type terms struct {
	start       edm.Ticks // start of validity, or 0 if it is not set
	expiry      edm.Ticks
	permissions string
}

func (t *Token) terms(c *Context) (m terms, err error) {
	if t.given.has(st) {
		if m.start, err = t.time(st); err != nil {
			return m, err
		}
	}
	if t.given.has(se) {
		if m.expiry, err = t.time(se); err != nil {
			return m, err
		}
	}
	m.permissions = t.value(sp)
	if !t.given.has(si) {
		return m, nil
	}
	err = t.complement(&m, c) // this call is not in the return statement, which may copy m before the call
	return m, err
}

func (t *Token) time(f field) (edm.Ticks, error) {
	at, err := ParseTime(t.value(f))
	if err != nil {
		return 0, authenticationFailed(fieldNames[f] + " is " + quote(t.value(f)) + ", but " + err.Error())
	}
	return at, nil
}

// complement sets the fields of m from the stored access policy.
func (t *Token) complement(m *terms, c *Context) error {
	var p *Policy
	if c.Policy != nil {
		var err error
		if p, err = c.Policy(t.value(si)); err != nil {
			return err
		}
	}
	if p == nil {
		return authenticationFailed("the table " + quote(t.table) + " has no stored access policy " + quote(t.value(si)))
	}
	if p.Start != nil {
		if t.given.has(st) {
			return twice(st)
		}
		m.start = *p.Start
	}
	if p.Expiry != nil {
		if t.given.has(se) {
			return twice(se)
		}
		m.expiry = *p.Expiry
	} else if !t.given.has(se) {
		return neither(se)
	}
	if p.Permissions != "" {
		if t.given.has(sp) {
			return twice(sp)
		}
		m.permissions = p.Permissions
	} else if !t.given.has(sp) {
		return neither(sp)
	}
	return nil
}

func twice(f field) error {
	return authenticationFailed(fieldNames[f] + " is in both the token and its stored access policy; remove it from one of them")
}

func neither(f field) error {
	return authenticationFailed(fieldNames[f] + " is neither in the token nor in its stored access policy")
}

// checkTime returns an error unless the current time is between start and expiry.
func (m *terms) checkTime(t *Token, now edm.Ticks) error {
	if now >= m.start && now <= m.expiry {
		return t.admitKey(now, m.expiry)
	}
	detail := "Signature not valid in the specified time frame: Start ["
	if m.start != 0 {
		detail += m.start.String()
	}
	return authenticationFailed(detail + "] - Expiry [" + m.expiry.String() + "] - Current [" + now.String() + "]")
}

// reach returns an error unless the token permits the client's address and the protocol of the request.
func (t *Token) reach(c *Context) error {
	if t.given.has(sip) {
		from, err := t.addresses()
		if err != nil {
			return err
		}
		if !from.contains(c.Source) {
			return outside(c.Source)
		}
	}
	https, err := t.needsHTTPS()
	if err != nil {
		return err
	}
	if https && !c.HTTPS {
		return refuse(table.AuthorizationProtocolMismatch, "the token is valid only over https")
	}
	return nil
}

// needsHTTPS reports whether spr restricts the token to HTTPS.
func (t *Token) needsHTTPS() (bool, error) {
	switch t.value(spr) {
	case "https":
		return true, nil
	case "", "https,http", "http,https":
		return false, nil
	}
	return false, authenticationFailed("spr must be https or https,http; it is " + quote(t.value(spr)))
}

func outside(source netip.Addr) error {
	if !source.IsValid() {
		return refuse(table.AuthorizationSourceIPMismatch, "the token is restricted to certain client addresses, and the server does not know the client's address")
	}
	return table.AuthorizationSourceIPMismatch.With("This request is not authorized to perform this operation using this source IP " + source.Unmap().WithZone("").String() + ".")
}
