package protocol

import (
	"edgetable/core/key"
	"edgetable/core/sas"
	"edgetable/core/table"
)

// Identity identifies the sender of a bearer token and gives its role.
type Identity struct {
	ObjectID, TenantID string
	// Contributor permits writes. Every authenticated identity may read.
	Contributor bool
}

// authority holds what the credentials of a request allow. The zero authority
// is that of an account key and allows everything.
type authority struct {
	grant    *sas.Grant // from a shared access signature
	identity *Identity  // from a bearer token
}

// allow returns an error if the credentials do not allow the operation.
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
	case sas.TableACL: // the service answers so
		return table.ResourceNotFound.Err()
	}
	if a.identity.Contributor {
		return nil
	}
	return table.AuthorizationPermissionMismatch.Err()
}

// allowEntity returns an error if the credentials do not give access to the
// entity.
func (a *authority) allowEntity(partitionKey, rowKey string) error {
	if a.grant == nil {
		return nil
	}
	return a.grant.AllowEntity(partitionKey, rowKey)
}

// within returns the range of a table that the credentials give access to, or
// nil for the whole table.
func (a *authority) within() *key.Range {
	if a.grant == nil {
		return nil
	}
	return a.grant.Range()
}
