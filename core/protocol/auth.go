package protocol

import (
	"errors"

	"edgetable/core/sharedkey"
	"edgetable/core/table"
)

// authenticate demands a correct signature of the account that the address
// names. The signature is judged before anything else is looked at.
func (x *exchange) authenticate() error {
	h := x.req.Header
	authorization := h.Get("Authorization")
	if authorization == "" {
		if x.options.signed {
			return table.NotImplemented.With("The requested operation is not implemented on the specified resource. Shared access signatures are not supported by this version of the server: sign with the account key.")
		}
		return table.NoAuthenticationInformation.With(table.NoAuthenticationInformation.Err().Message + " The request is not signed: send Authorization: SharedKey or SharedKeyLite with the account key.")
	}
	cred, err := sharedkey.ParseAuthorization(authorization)
	if err != nil {
		return authError(err)
	}
	account, ok := x.Accounts(x.address.account)
	if !ok {
		return table.ResourceNotFound.With("The specified resource does not exist. There is no account of this name on the server.")
	}
	err = account.Verify(cred, sharedkey.Request{
		Method:      x.req.Method,
		Path:        x.target.path,
		RawQuery:    x.target.query,
		ContentMD5:  h.Get("Content-Md5"),
		ContentType: h.Get("Content-Type"),
		Date:        h.Get("Date"),
		XMSDate:     h.Get("X-Ms-Date"),
	}, x.now.Time(), x.MaxSkew)
	if err != nil {
		return authError(err)
	}
	return nil
}

// authError names a refusal as the service does and adds what helps a
// developer: the string to sign as computed here, never a key or a signature.
func authError(err error) error {
	var e *sharedkey.Error
	if !errors.As(err, &e) {
		return table.AuthenticationFailed.Err()
	}
	code := table.AuthenticationFailed
	if e.Reason == sharedkey.Malformed {
		code = table.InvalidAuthenticationInfo
	}
	return code.With(code.Err().Message + " Detail: " + e.Detail)
}
