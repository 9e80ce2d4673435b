package protocol

import (
	"edgetable/core/key"
	"edgetable/core/sas"
	"edgetable/core/table"
)

// Identity is who sent a bearer token, as far as it matters here.
type Identity struct {
	ObjectID, TenantID string
	// Contributor may write; everybody who is authenticated may read.
	Contributor bool
}

// authority is what the credentials of a request allow. The zero authority is
// that of the account key: everything.
type authority struct {
	grant    *sas.Grant // of a shared access signature
	identity *Identity  // of a bearer token
}

// allow returns the error of an operation that is not allowed.
func (a *authority) allow(op sas.Operation, tableName string) error {
	switch {
	case a.grant != nil:
		return a.grant.Allow(op, tableName)
	case a.identity == nil:
		if op == sas.GetUserDelegationKey {
			return table.AuthenticationFailed.With(table.AuthenticationFailed.Err().Message + " A user delegation key is given to the owner of a bearer token.")
		}
		return nil
	}
	switch op {
	case sas.QueryTables, sas.QueryEntities, sas.GetServiceStats, sas.GetUserDelegationKey:
		return nil
	case sas.TableACL: // as the service answers
		return table.ResourceNotFound.Err()
	}
	if a.identity.Contributor {
		return nil
	}
	return table.AuthorizationPermissionMismatch.Err()
}

// allowEntity returns the error of an entity out of reach.
func (a *authority) allowEntity(partitionKey, rowKey string) error {
	if a.grant == nil {
		return nil
	}
	return a.grant.AllowEntity(partitionKey, rowKey)
}

// within is the part of a table that can be seen, nil for all of it.
func (a *authority) within() *key.Range {
	if a.grant == nil {
		return nil
	}
	return a.grant.Range()
}
