package protocol

import (
	"context"
	"errors"
	"strings"

	"edgetable/core/sas"
	"edgetable/core/settings"
	"edgetable/core/sharedkey"
	"edgetable/core/table"
	"edgetable/core/version"
)

// authenticate verifies the credentials of the request and sets x.authority. The credentials are in the Authorization
// header or, without this header, in a SAS in the query.
func (x *exchange) authenticate(ctx context.Context) error {
	if err := x.refuseAfterFailures(); err != nil {
		return err
	}
	err := x.credentials(ctx)
	if err == nil {
		return nil
	}
	if err.Status() >= 500 && x.resp.Refused != RefusedQueue {
		x.resp.Refused = "" // the server failed before it could judge the credentials, so this is not a refusal
	}
	if err.Code == table.AuthenticationFailed || err.Code == table.InvalidAuthenticationInfo {
		x.countFailure()
	}
	return err
}

func (x *exchange) credentials(ctx context.Context) *table.Error {
	authorization := x.req.Header.Get("Authorization")
	scheme, token, _ := strings.Cut(authorization, " ")
	switch {
	case authorization == "":
		return x.verifySAS(ctx)
	case strings.EqualFold(scheme, "Bearer"):
		return x.bearer(ctx, token)
	}
	cred, err := sharedkey.ParseAuthorization(authorization)
	if err != nil {
		return x.keyError(err)
	}
	if refused := x.checkReachable(); refused != nil {
		return refused
	}
	h := x.req.Header
	err = x.account.Verify(cred, sharedkey.Request{
		Method:      x.req.Method,
		Path:        x.target.Path,
		RawQuery:    x.target.Query,
		ContentMD5:  h.Get("Content-Md5"),
		ContentType: h.Get("Content-Type"),
		Date:        h.Get("Date"),
		XMSDate:     h.Get("X-Ms-Date"),
	}, x.now.Time(), x.MaxSkew)
	if err != nil {
		return x.keyError(err)
	}
	return nil
}

// checkReachable returns an error if the account does not exist, is disabled, demands HTTPS, or refuses the client's
// address. The error counts as a failed sign-in.
func (x *exchange) checkReachable() *table.Error {
	err := x.unreachable()
	if err != nil {
		x.countFailure()
	}
	return err
}

func (x *exchange) unreachable() *table.Error {
	switch {
	case x.account == nil:
		x.resp.Refused = RefusedAccount
		name := string(sharedkey.AppendEscaped(nil, x.address.Account, 64))
		return table.ResourceNotFound.With(`The specified resource does not exist. There is no account "` + name + `" on the server; the path must begin with the account name unless the host name contains it.`)
	case x.account.Disabled:
		x.resp.Refused = RefusedDisabled
		return table.AccountIsDisabled.Err()
	case x.account.HTTPS && x.req.Scheme != "https":
		x.resp.Refused = RefusedScheme
		return table.AccountRequiresHTTPS.With(table.AccountRequiresHTTPS.Err().Message + " Send the request to the https address of the account.")
	case !x.account.Firewall.Admits(x.req.Source):
		x.resp.Refused = RefusedFirewall
		return table.AuthorizationFailure.With(table.AuthorizationFailure.Err().Message + " The account's firewall blocks the address " + x.req.Source.String() + ".")
	}
	return nil
}

// keyError converts an error of package sharedkey into the service's error. The detail may contain the StringToSign
// that the server computed, but never a key or a signature.
func (x *exchange) keyError(err error) *table.Error {
	x.resp.Refused = RefusedSignature
	var e *sharedkey.Error
	if !errors.As(err, &e) {
		return table.AuthenticationFailed.Err()
	}
	code := table.AuthenticationFailed
	switch e.Reason {
	case sharedkey.Malformed:
		x.resp.Refused, code = RefusedMalformed, table.InvalidAuthenticationInfo
	case sharedkey.NoDate, sharedkey.BadDate, sharedkey.Skewed:
		x.resp.Refused = RefusedDate
	}
	return code.With(code.Err().Message + " Detail: " + e.Detail)
}

func (x *exchange) verifySAS(ctx context.Context) *table.Error {
	token, err := sas.Parse(x.target.Query)
	if err != nil {
		x.resp.Refused = RefusedSAS
		return asError(err)
	}
	if token == nil {
		x.resp.Refused = RefusedAnonymous
		code := table.NoAuthenticationInformation
		if x.predatesChallenges() {
			code = table.ResourceNotFound // versions without WWW-Authenticate challenges hide whether the resource exists
		}
		hint := " The request is not signed: send Authorization: SharedKey or SharedKeyLite with the account key, or a shared access signature in the query."
		if strings.Contains("&"+x.target.Query, "&sv=") {
			hint = " The query has the parameter sv of a shared access signature but no sig: in a shell, put the URL in quotes."
		}
		return code.With(code.Err().Message + hint)
	}
	if refused := x.checkReachable(); refused != nil {
		return refused
	}
	grant, err := token.Verify(&x.account.Account, sas.Context{
		Now: x.now, Source: x.req.Source, HTTPS: x.req.Scheme == "https",
		Policy: func(id string) (*sas.Policy, error) { return x.policy(ctx, token.Table(), id) },
	})
	if err != nil {
		if x.resp.Refused != RefusedQueue {
			x.resp.Refused = RefusedSAS
		}
		return asError(err)
	}
	x.authority.grant = grant
	x.signedVersion = token.Version()
	return nil
}

// policy returns the stored access policy that has the given id in a table, or nil if the table has no such policy.
func (x *exchange) policy(ctx context.Context, tableName, id string) (*sas.Policy, error) {
	var acl []byte
	err := x.chargeSource(ctx, func() (err error) {
		acl, err = x.Service.TableACL(ctx, table.Name{Account: x.address.Account, Table: tableName})
		return err
	})
	if err != nil {
		if asError(err).Status() < 500 {
			return nil, nil // a missing table has no policy
		}
		return nil, err
	}
	list, err := settings.ParsePolicies(acl)
	if err != nil {
		return nil, table.InternalError.Because(err)
	}
	for i := range list {
		if list[i].ID == id {
			return &list[i], nil
		}
	}
	return nil, nil
}

// ErrSuspicious marks an error of [Handler.Bearer] for a token that is probably forged. The request counts as a failed
// sign-in, whatever the error code is.
var ErrSuspicious = errors.New("protocol: the token is probably forged")

func (x *exchange) bearer(ctx context.Context, token string) *table.Error {
	token = strings.TrimSpace(token)
	if v := x.req.Header.Get("X-Ms-Version"); v < version.Bearer {
		x.resp.Refused = RefusedToken
		x.plain = v == ""
		return table.AuthenticationFailed.With(table.AuthenticationFailed.Err().Message + " A bearer token needs x-ms-version " + version.Bearer + " or later.")
	}
	if !isBearerToken(token) && !x.predatesChallenges() {
		x.resp.Refused = RefusedMalformed
		return table.InvalidAuthenticationInfo.With(table.InvalidAuthenticationInfo.Err().Message + " A bearer token may contain only letters, digits and -._~+/.")
	}
	x.resp.Refused = RefusedToken
	if x.Bearer == nil {
		return x.bearerError("Bearer tokens are not accepted by this server.")
	}
	if refused := x.checkReachable(); refused != nil {
		return refused
	}
	if x.req.Scheme != "https" && !x.req.Source.IsLoopback() {
		return x.bearerError("Bearer tokens are accepted only over HTTPS.")
	}
	identity, err := x.Bearer(ctx, token)
	if err != nil {
		if errors.Is(err, ErrSuspicious) {
			x.countFailure()
		}
		var e *table.Error
		if errors.As(err, &e) {
			return e
		}
		return x.bearerError("Detail: " + err.Error())
	}
	if err := x.account.admitsToken(&identity); err != nil {
		return x.bearerError("Detail: " + err.Error() + ".")
	}
	x.resp.Refused = ""
	x.authority.identity = &identity
	return nil
}

// isBearerToken reports whether s is a token in the syntax of RFC 6750.
func isBearerToken(s string) bool {
	s = strings.TrimRight(s, "=")
	for i := range len(s) {
		c := s[i]
		if letter := c | 0x20; (letter < 'a' || letter > 'z') && (c < '0' || c > '9') && strings.IndexByte("-._~+/", c) < 0 {
			return false
		}
	}
	return s != ""
}

// predatesChallenges reports whether the request has a protocol version that is older than WWW-Authenticate challenges.
func (x *exchange) predatesChallenges() bool {
	v := x.req.Header.Get("X-Ms-Version")
	return v != "" && v < version.Challenge
}

// challenge returns the WWW-Authenticate header of a response with status 401. It names the account's first audience
// for bearer tokens, if there is one.
func (x *exchange) challenge() string {
	if x.Challenge == "" {
		return "SharedKey"
	}
	if x.account != nil && len(x.account.Audiences) > 0 {
		if issuer, _, ok := strings.Cut(x.Challenge, resourceID); ok {
			return issuer + resourceID + x.account.Audiences[0]
		}
	}
	return x.Challenge
}

// resourceID precedes the audience in the WWW-Authenticate header.
const resourceID = " resource_id="

func (x *exchange) bearerError(hint string) *table.Error {
	if x.predatesChallenges() {
		return table.AuthenticationFailed.With(table.AuthenticationFailed.Err().Message + " " + hint)
	}
	return table.InvalidAuthenticationInfo.With(table.NoAuthenticationInformation.Err().Message + " " + hint).WithStatus(401)
}
