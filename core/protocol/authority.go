package protocol

import (
	"edgetable/core/key"
	"edgetable/core/sas"
	"edgetable/core/table"
)

// Identity identifies the sender of a bearer token and gives its role.
type Identity struct {
	ObjectID, TenantID string
	// Audiences lists the audiences in the token.
	Audiences []string
	// Contributor permits writes. Every authenticated identity may read.
	Contributor bool
}

// authority holds the permissions of a request's credentials. The zero value represents an account key and permits
// everything.
type authority struct {
	grant    *sas.Grant // permissions of a shared access signature; nil for other credentials
	identity *Identity  // sender of a bearer token; nil for other credentials
}

// allow returns an error if the credentials do not permit an operation that requires the given right and audience.
func (a *authority) allow(right sas.Right, who audience, tableName string) error {
	switch {
	case a.grant != nil:
		return a.grant.Allow(right, tableName)
	case a.identity == nil && who == users:
		return table.AuthenticationFailed.With(table.AuthenticationFailed.Err().Message + " A user delegation key can only be requested with a bearer token.")
	case a.identity == nil:
		return nil
	case who == owners: // the service returns this error too
		return table.ResourceNotFound.Err()
	case who == contributors && !a.identity.Contributor:
		return table.AuthorizationPermissionMismatch.Err()
	}
	return nil
}

func (a *authority) allowEntity(partitionKey, rowKey string) error {
	if a.grant == nil {
		return nil
	}
	return a.grant.AllowEntity(partitionKey, rowKey)
}

// keyRange returns the key range that the credentials permit, or nil for the whole table.
func (a *authority) keyRange() *key.Range {
	if a.grant == nil {
		return nil
	}
	return a.grant.Range()
}

// audience is the set of credentials that permit an operation, except shared access signatures, whose rights are
// checked instead. It is unrelated to the audience of a token.
type audience uint8

const (
	contributors audience = iota // account keys, and tokens of contributors
	readers                      // account keys, and all bearer tokens
	owners                       // account keys
	users                        // all bearer tokens
)
