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

// authority holds the permissions that the credentials of a request give. The zero authority belongs to an
// account key and permits everything.
type authority struct {
	grant    *sas.Grant // the permissions of a shared access signature; nil for other credentials
	identity *Identity  // the sender of a bearer token; nil for other credentials
}

// allow returns an error if the credentials do not permit an operation with this right and this audience.
func (a *authority) allow(right sas.Right, who audience, tableName string) error {
	switch {
	case a.grant != nil:
		return a.grant.Allow(right, tableName)
	case a.identity == nil && who == users:
		return table.AuthenticationFailed.With(table.AuthenticationFailed.Err().Message + " A user delegation key can only be requested with a bearer token.")
	case a.identity == nil:
		return nil
	case who == owners: // the service sends ResourceNotFound too
		return table.ResourceNotFound.Err()
	case who == contributors && !a.identity.Contributor:
		return table.AuthorizationPermissionMismatch.Err()
	}
	return nil
}

// allowEntity returns an error if the credentials do not give access to the entity.
func (a *authority) allowEntity(partitionKey, rowKey string) error {
	if a.grant == nil {
		return nil
	}
	return a.grant.AllowEntity(partitionKey, rowKey)
}

// keyRange returns the range of keys to which the credentials give access, or nil for the whole table.
func (a *authority) keyRange() *key.Range {
	if a.grant == nil {
		return nil
	}
	return a.grant.Range()
}

// audience tells which credentials, apart from shared access signatures, permit an operation. It is not the
// audience of a token.
type audience uint8

const (
	contributors audience = iota // an account key, and tokens of contributors
	readers                      // an account key, and every bearer token
	owners                       // an account key
	users                        // every bearer token
)
