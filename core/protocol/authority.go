package protocol

import (
	"edgetable/core/key"
	"edgetable/core/sas"
	"edgetable/core/table"
)

// Identity identifies the sender of a bearer token and gives its role.
type Identity struct {
	ObjectID, TenantID string
	// Audiences lists the audiences that the token names.
	Audiences []string
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
func (a *authority) allow(op *operation, tableName string) error {
	switch {
	case a.grant != nil:
		return a.grant.Allow(op.right, tableName)
	case a.identity == nil && op.audience == users:
		return table.AuthenticationFailed.With(table.AuthenticationFailed.Err().Message + " A user delegation key can only be requested with a bearer token.")
	case a.identity == nil:
		return nil
	case op.audience == owners: // the service also answers ResourceNotFound
		return table.ResourceNotFound.Err()
	case op.audience == contributors && !a.identity.Contributor:
		return table.AuthorizationPermissionMismatch.Err()
	}
	return nil
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
func (a *authority) keyRange() *key.Range {
	if a.grant == nil {
		return nil
	}
	return a.grant.Range()
}

// audience lists the credentials, other than a shared access signature, that
// allow an operation.
type audience uint8

const (
	contributors audience = iota // an account key, and tokens of contributors
	readers                      // an account key, and every bearer token
	owners                       // an account key
	users                        // every bearer token
)
