package sas

import (
	"strings"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Right is the permission for one operation, or for several operations that require the same letters in sp.
type Right uint8

const (
	GetServiceProperties Right = iota + 1
	SetServiceProperties
	GetServiceStats
	QueryTables // Query Tables, and the query of a single table by its name
	CreateTable
	DeleteTable
	TableACL // reads and writes of stored access policies
	GetUserDelegationKey
	QueryEntities // Query Entities, and the read of a single entity by its keys
	InsertEntity
	UpsertEntity // Insert Or Replace Entity, Insert Or Merge Entity
	UpdateEntity // Update Entity and Merge Entity, with If-Match
	DeleteEntity
)

// requirement says what a token must contain to grant a right: letters in sp and, in an account SAS, a resource type.
type requirement struct {
	name    string
	types   string // resource type, a letter of srt; "" if no token grants the right
	letters string
	or      string // letters that are sufficient instead of the field letters, or ""
	entity  bool   // whether a token for one table can grant the right
}

// requirements holds the requirement of each Right. No token grants TableACL or GetUserDelegationKey. Query Tables
// requires the resource type container, although service is documented too.
var requirements = [...]requirement{
	GetServiceProperties: {name: "Get Table Service Properties", types: "s", letters: "r"},
	SetServiceProperties: {name: "Set Table Service Properties", types: "s", letters: "w"},
	GetServiceStats:      {name: "Get Table Service Stats", types: "s", letters: "r"},
	QueryTables:          {name: "Query Tables", types: "c", letters: "l"},
	CreateTable:          {name: "Create Table", types: "c", letters: "c", or: "w"},
	DeleteTable:          {name: "Delete Table", types: "c", letters: "d"},
	TableACL:             {name: "Get or Set Table ACL"},
	GetUserDelegationKey: {name: "Get User Delegation Key"},
	QueryEntities:        {name: "Query Entities", types: "o", letters: "r", entity: true},
	InsertEntity:         {name: "Insert Entity", types: "o", letters: "a", entity: true},
	UpsertEntity:         {name: "Insert Or Replace or Insert Or Merge", types: "o", letters: "au", entity: true},
	UpdateEntity:         {name: "Update or Merge Entity", types: "o", letters: "u", entity: true},
	DeleteEntity:         {name: "Delete Entity", types: "o", letters: "d", entity: true},
}

// Grant holds the permissions of a verified token. It is immutable.
type Grant struct {
	token       *Token
	permissions string // letters from the token or its policy, limited to the role of a delegating user
	expiry      edm.Ticks
}

// Expiry returns the expiry of the token.
func (g *Grant) Expiry() edm.Ticks { return g.expiry }

// Allow returns nil if the token grants the right on a table. tableName may be in any case, and is "" for an operation
// without a table. The caller must also apply [Grant.Range] to queries, and [Grant.AllowEntity] to single entities. All
// errors have status 403:
//
//   - AuthorizationFailure for an operation that this kind of token never permits, or for another table;
//   - AuthorizationServiceMismatch or AuthorizationResourceTypeMismatch for an account SAS for other services or
//     resource types;
//   - AuthorizationPermissionMismatch for a missing letter.
func (g *Grant) Allow(right Right, tableName string) error {
	t := g.token
	if int(right) >= len(requirements) || requirements[right].name == "" {
		return table.AuthorizationFailure.Err()
	}
	need := &requirements[right]
	switch {
	case need.types == "":
		return refuse(table.AuthorizationFailure, "no shared access signature allows "+need.name)
	case t.kind != accountSAS && !need.entity:
		return refuse(table.AuthorizationFailure, article(t.kind)+" does not allow "+need.name+"; an account SAS can")
	case t.kind != accountSAS && !equalFold(t.table, tableName):
		return refuse(table.AuthorizationFailure, "the token is for the table "+quote(t.table))
	case t.kind == accountSAS && !contains(t.value(ss), 't'):
		return refuse(table.AuthorizationServiceMismatch, "the services of the token (ss) must include the letter t; they are "+quote(t.value(ss)))
	case t.kind == accountSAS && !strings.Contains(t.value(srt), need.types):
		return refuse(table.AuthorizationResourceTypeMismatch, need.name+" needs the letter "+need.types+" in srt; it is "+quote(t.value(srt)))
	}
	if hasOnly(need.letters, g.permissions) || need.or != "" && hasOnly(need.or, g.permissions) {
		return nil
	}
	letters := need.letters
	if len(letters) > 1 {
		letters = "letters " + letters[:1] + " and " + letters[1:]
	} else {
		letters = "letter " + letters
	}
	return refuse(table.AuthorizationPermissionMismatch, need.name+" needs the "+letters+" in the token's permissions; they are "+quote(g.permissions))
}

// equalFold reports whether two names are equal when the case of ASCII letters is ignored. The first name must be in
// lower case.
func equalFold(folded, name string) bool {
	if len(folded) != len(name) {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != folded[i] {
			return false
		}
	}
	return true
}

// Range returns the range of encoded keys that a query may return, or nil for the whole table. The range may be empty.
// Bounds in a token need not be valid keys.
func (g *Grant) Range() *key.Range {
	t := g.token
	if !t.given.has(spk) && !t.given.has(epk) {
		return nil
	}
	var r key.Range
	if p := t.value(spk); t.given.has(srk) && key.Check(p) == nil {
		r.Start = key.RowFrom(p, t.value(srk))
	} else {
		// Without srk, the range includes the whole partition spk. If spk is not a valid key, the partition does not
		// exist, and srk has no effect.
		r.Start = key.PartitionFrom(p)
	}
	switch p := t.value(epk); {
	case !t.given.has(epk):
	case t.given.has(erk) && key.Check(p) == nil:
		r.End = key.RowAfter(p, t.value(erk))
	default:
		r.End = key.PartitionAfter(p)
	}
	return &r
}

// AllowEntity returns AuthorizationFailure if the entity is outside the token's key range.
func (g *Grant) AllowEntity(partition, row string) error {
	t := g.token
	if t.given.has(spk) {
		c := key.Compare(partition, t.value(spk))
		if c < 0 || c == 0 && t.given.has(srk) && key.Compare(row, t.value(srk)) < 0 {
			return refuse(table.AuthorizationFailure, "the entity is before the token's range of keys, which begins at spk and srk")
		}
	}
	if t.given.has(epk) {
		c := key.Compare(partition, t.value(epk))
		if c > 0 || c == 0 && t.given.has(erk) && key.Compare(row, t.value(erk)) > 0 {
			return refuse(table.AuthorizationFailure, "the entity is after the token's range of keys, which ends at epk and erk")
		}
	}
	return nil
}
