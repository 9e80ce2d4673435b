package protocol

import (
	"cmp"
	"context"
	"strings"

	"edgetable/core/multipart"
	"edgetable/core/sas"
	"edgetable/core/settings"
	"edgetable/core/table"
	"edgetable/core/version"
)

// document returns an answer with an XML document as its body. As in the service, the document begins with a byte order
// mark.
func document(body func(dst []byte) []byte) (answer, error) {
	const bom = "\xef\xbb\xbf"
	return answer{
		status: 200,
		header: multipart.Header{{Name: "Content-Type", Value: "application/xml"}},
		body:   body([]byte(bom)),
	}, nil
}

// tableName checks the table name in an administrative operation. As in the service, the error for an invalid name is
// in the format of entity operations and not plain XML.
func (c *call) tableName() error {
	err := table.CheckTableName(c.route.Table)
	if err != nil {
		c.plain = false
	}
	return err
}

func (c *call) getACL(ctx context.Context) (answer, error) {
	if err := c.tableName(); err != nil {
		return answer{}, err
	}
	acl, err := c.Service.TableACL(ctx, c.name())
	if err != nil {
		return answer{}, err
	}
	policies, err := settings.ParsePolicies(acl)
	if err != nil {
		return answer{}, table.InternalError.Because(err)
	}
	return document(func(dst []byte) []byte { return settings.AppendPolicies(dst, policies) })
}

func (c *call) setACL(ctx context.Context) (answer, error) {
	if err := c.tableName(); err != nil {
		return answer{}, err
	}
	if strings.TrimSpace(c.header.Get("Accept")) == "*/*" {
		return answer{}, table.MediaTypeNotSupported.With(table.MediaTypeNotSupported.Err().Message + ". Send Accept: application/xml.")
	}
	body, err := c.body()
	if err != nil {
		return answer{}, err
	}
	policies, err := settings.ParsePolicies(body)
	if err != nil {
		return answer{}, err
	}
	var acl []byte
	if len(policies) > 0 {
		acl = settings.AppendPolicies(nil, policies)
	}
	if err := c.Service.SetTableACL(ctx, c.name(), acl); err != nil {
		return answer{}, err
	}
	return answer{status: 204}, nil
}

func (c *call) getProperties(ctx context.Context) (answer, error) {
	p, err := c.storedSettings(ctx)
	if err != nil {
		return answer{}, err
	}
	legacy := c.Version != "" && c.Version < version.JSON
	return document(func(dst []byte) []byte { return p.Append(dst, legacy) })
}

func (c *call) setProperties(ctx context.Context) (answer, error) {
	body, err := c.body()
	if err != nil {
		return answer{}, err
	}
	err = c.Service.UpdateAccountSettings(ctx, c.address.Account, func(old []byte) ([]byte, error) {
		return settings.Merge(old, body)
	})
	if c.settings.Forget(c.account.Name); c.SettingsMemory != nil { // forget the settings even after an error, because the write may have been applied
		c.SettingsMemory.Forget(c.account.Name, c.Now())
	}
	if err != nil {
		return answer{}, err
	}
	return answer{status: 202}, nil
}

func (c *call) getStats(ctx context.Context) (answer, error) {
	if !c.address.Secondary {
		return answer{}, table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. Only the secondary address supports comp=stats: append -secondary to the account's name.")
	}
	state := c.Service.Replication()
	return document(func(dst []byte) []byte { return settings.AppendStats(dst, state) })
}

// getDelegationKey returns a new user delegation key, with which a user can sign shared access signatures.
func (c *call) getDelegationKey(ctx context.Context) (answer, error) {
	body, err := c.body()
	if err != nil {
		return answer{}, err
	}
	want := sas.DelegationKey{ObjectID: c.authority.identity.ObjectID, TenantID: c.authority.identity.TenantID, Version: c.Version}
	if want.Start, want.Expiry, err = settings.ParseKeyInfo(body); err != nil {
		return answer{}, err
	}
	role := sas.Reader
	if c.authority.identity.Contributor {
		role = sas.Contributor
	}
	// Either account key may be used, because a token is verified with both.
	lender := cmp.Or(c.account.Keys[0], c.account.Keys[1])
	if lender == nil {
		return answer{}, table.AuthorizationFailure.With("This request is not authorized to perform this operation. The account has no key from which a user delegation key can be derived.")
	}
	lent, err := sas.Delegate(lender, c.address.Account, role, want, c.now)
	if err != nil {
		return answer{}, err
	}
	return document(func(dst []byte) []byte { return settings.AppendDelegationKey(dst, lent) })
}
