package protocol

import (
	"context"
	"strings"

	"edgetable/core/sas"
	"edgetable/core/settings"
	"edgetable/core/table"
)

// administration answers requests with comp or restype: the access policies of
// a table and the settings of an account. Their bodies are plain XML for every
// Accept, not ATOM.
func (x *exchange) administration(ctx context.Context) error {
	x.plain = true
	r, err := parseRoute(x.address.account, x.address.rest)
	if err != nil {
		return err
	}
	x.resp.Table = r.table
	service := r.resource == root && x.options.restype == "service"
	switch comp := x.options.comp; {
	case service && comp == "properties":
		switch x.verb {
		case "GET":
			return x.getProperties(ctx)
		case "PUT":
			return x.setProperties(ctx)
		}
	case service && comp == "stats":
		if x.verb == "GET" {
			return x.getStats(ctx)
		}
	case service && comp == "userdelegationkey":
		if x.verb == "POST" {
			return x.getDelegationKey(ctx)
		}
	case r.resource == entitySet && x.options.restype == "" && comp == "acl":
		name := table.Name{Account: x.address.account, Table: r.table}
		switch x.verb {
		case "GET", "HEAD":
			return x.getACL(ctx, name)
		case "PUT":
			return x.setACL(ctx, name)
		}
	default:
		return table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. There are table?comp=acl, ?restype=service&comp=properties, ?restype=service&comp=stats and ?restype=service&comp=userdelegationkey.")
	}
	return table.MethodNotAllowed.Err()
}

// open checks the permission, the version, the limits and the gate before an
// administrative operation.
func (x *exchange) open(ctx context.Context, name string, op sas.Operation, tableName string, since string, write bool) error {
	x.resp.Operation = name
	if err := x.authority.allow(op, tableName); err != nil {
		return err
	}
	if x.version != "" && x.version < since {
		return table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. This operation needs x-ms-version " + since + " or later.")
	}
	if write && x.address.secondary {
		return table.InsufficientAccountPermissions.Err()
	}
	return x.admit(ctx, Access{Operation: name, Table: tableName, Write: write, Entities: 1})
}

// document makes an XML document the response. Like the service, it begins with
// a byte order mark.
func (x *exchange) document(body func(dst []byte) []byte) {
	const bom = "\xef\xbb\xbf"
	x.resp.Status = 200
	x.resp.Body = body([]byte(bom))
	x.resp.add("Content-Type", "application/xml")
}

func (x *exchange) getACL(ctx context.Context, name table.Name) error {
	if err := x.open(ctx, "GetTableACL", sas.TableACL, name.Table, sasVersion, false); err != nil {
		return err
	}
	acl, err := x.Service.TableACL(ctx, name)
	if err != nil {
		return err
	}
	policies, err := settings.ParsePolicies(acl)
	if err != nil {
		return table.InternalError.Because(err)
	}
	x.document(func(dst []byte) []byte { return settings.AppendPolicies(dst, policies) })
	return nil
}

func (x *exchange) setACL(ctx context.Context, name table.Name) error {
	if err := x.open(ctx, "SetTableACL", sas.TableACL, name.Table, sasVersion, true); err != nil {
		return err
	}
	if strings.TrimSpace(x.req.Header.Get("Accept")) == "*/*" {
		return table.MediaTypeNotSupported.With(table.MediaTypeNotSupported.Err().Message + ". Send Accept: application/xml.")
	}
	body, err := x.body()
	if err != nil {
		return err
	}
	policies, err := settings.ParsePolicies(body)
	if err != nil {
		return err
	}
	var acl []byte
	if len(policies) > 0 {
		acl = settings.AppendPolicies(nil, policies)
	}
	if err := x.Service.SetTableACL(ctx, name, acl); err != nil {
		return err
	}
	x.resp.Status = 204
	return nil
}

func (x *exchange) getProperties(ctx context.Context) error {
	if err := x.open(ctx, "GetServiceProperties", sas.GetServiceProperties, "", firstVersion, false); err != nil {
		return err
	}
	p, err := x.storedSettings(ctx)
	if err != nil {
		return err
	}
	legacy := x.version != "" && x.version < jsonVersion
	x.document(func(dst []byte) []byte { return p.Append(dst, legacy) })
	return nil
}

func (x *exchange) setProperties(ctx context.Context) error {
	if err := x.open(ctx, "SetServiceProperties", sas.SetServiceProperties, "", firstVersion, true); err != nil {
		return err
	}
	body, err := x.body()
	if err != nil {
		return err
	}
	err = x.Service.UpdateAccountSettings(ctx, x.address.account, func(old []byte) ([]byte, error) {
		p, err := readSettings(old)
		if err != nil {
			return nil, err
		}
		if err = p.Update(body); err != nil {
			return nil, err
		}
		return p.Append(nil, false), nil
	})
	x.forgetSettings() // a failed write may still have changed them
	if err != nil {
		return err
	}
	x.resp.Status = 202
	return nil
}

func (x *exchange) getStats(ctx context.Context) error {
	if err := x.open(ctx, "GetServiceStats", sas.GetServiceStats, "", jsonVersion, false); err != nil {
		return err
	}
	if !x.address.secondary {
		return table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. The secondary address answers comp=stats: append -secondary to the account's name.")
	}
	synced := x.now
	if x.LastSync != nil {
		synced = x.LastSync()
	}
	x.document(func(dst []byte) []byte { return settings.AppendStats(dst, synced) })
	return nil
}

// getDelegationKey makes a user delegation key, with which a user signs shared
// access signatures.
func (x *exchange) getDelegationKey(ctx context.Context) error {
	if err := x.open(ctx, "GetUserDelegationKey", sas.GetUserDelegationKey, "", sas.DelegationVersion, false); err != nil {
		return err
	}
	body, err := x.body()
	if err != nil {
		return err
	}
	want := sas.DelegationKey{ObjectID: x.authority.identity.ObjectID, TenantID: x.authority.identity.TenantID, Version: x.version}
	if want.Start, want.Expiry, err = settings.ParseKeyInfo(body); err != nil {
		return err
	}
	role := sas.Reader
	if x.authority.identity.Contributor {
		role = sas.Contributor
	}
	// Either key works, because tokens are verified with both.
	lender := x.account.Keys[0]
	if lender == nil {
		lender = x.account.Keys[1]
	}
	if lender == nil {
		return table.AuthorizationFailure.With("This request is not authorized to perform this operation. The account has no key to derive others from.")
	}
	lent, err := sas.Delegate(lender, x.address.account, role, want, x.now)
	if err != nil {
		return err
	}
	x.document(func(dst []byte) []byte { return settings.AppendDelegationKey(dst, lent) })
	return nil
}
