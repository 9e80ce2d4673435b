package sas

import (
	"strings"

	"edgetable/core/key"
	"edgetable/core/table"
)

// Right is the right to an operation, or to several that need the same letters.
type Right uint8

const (
	GetServiceProperties Right = iota + 1
	SetServiceProperties
	GetServiceStats
	QueryTables // also of one table by name
	CreateTable
	DeleteTable
	TableACL // reading and writing the ACL
	GetUserDelegationKey
	QueryEntities // also of one entity by its keys
	InsertEntity
	UpsertEntity // insert or replace, insert or merge
	UpdateEntity // replace or merge, with a condition
	DeleteEntity
)

// requirement is what a token needs to grant a right: an account SAS the resource
// type and all the letters, a token for a table only the letters.
type requirement struct {
	name    string
	types   string // letter of srt
	letters string // letters of sp; all are needed
	or      string // letters that also suffice
	entity  bool   // a token for a table can permit it
}

// needs is indexed by Right. No token grants a right without types:
// only the owner changes the access policies, only a user gets a delegation
// key. The documentation of the service contradicts itself on the resource type
// of listing, container or service: users found that the service uses
// container.
var needs = [...]requirement{
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

// Grant holds the permissions of a verified token. It does not change.
type Grant struct {
	token       *Token
	permissions string // of token or policy, limited to the permissions of the user
}

// Allow returns nil if the token grants the right on the table, whose name may be
// in any case and is "" for an operation without a table. Otherwise the error
// has status 403: AuthorizationFailure for an operation that this kind of token
// never permits and for a table that is not the token's,
// AuthorizationServiceMismatch and AuthorizationResourceTypeMismatch for an
// account SAS for other services or resource types, and
// AuthorizationPermissionMismatch for a missing letter. [Grant.Range] further
// limits a query, [Grant.AllowEntity] every entity.
func (g *Grant) Allow(right Right, tableName string) error {
	t := g.token
	if int(right) >= len(needs) || needs[right].name == "" {
		return table.AuthorizationFailure.Err()
	}
	need := &needs[right]
	switch {
	case need.types == "":
		return refuse(table.AuthorizationFailure, "no shared access signature allows "+need.name)
	case t.kind != accountSAS && !need.entity:
		return refuse(table.AuthorizationFailure, article(t.kind)+" does not allow "+need.name+"; an account SAS can")
	case t.kind != accountSAS && !equalFold(t.table, tableName):
		return refuse(table.AuthorizationFailure, "the token is for the table "+quote(t.table))
	case t.kind == accountSAS && !contains(t.value(ss), 't'):
		return refuse(table.AuthorizationServiceMismatch, "the services ss of the token need the letter t; they are "+quote(t.value(ss)))
	case t.kind == accountSAS && !strings.Contains(t.value(srt), need.types):
		return refuse(table.AuthorizationResourceTypeMismatch, need.name+" needs the letter "+need.types+" in srt; it is "+quote(t.value(srt)))
	}
	if only(need.letters, g.permissions) || need.or != "" && only(need.or, g.permissions) {
		return nil
	}
	letters := need.letters
	if len(letters) > 1 {
		letters = "letters " + letters[:1] + " and " + letters[1:]
	} else {
		letters = "letter " + letters
	}
	return refuse(table.AuthorizationPermissionMismatch, need.name+" needs the "+letters+" among the permissions; they are "+quote(g.permissions))
}

// equalFold reports whether a name equals a folded one, after folding.
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

// Range returns the range of entities that a query may return, in the encoding
// of package key; nil means the whole table. It may be empty. The bounds of a
// token may be any strings, also strings that are not valid keys.
func (g *Grant) Range() *key.Range {
	t := g.token
	if !t.given.has(spk) && !t.given.has(epk) {
		return nil
	}
	var r key.Range
	if p := t.value(spk); t.given.has(srk) && key.Check(p) == nil {
		r.Start = key.RowFrom(p, t.value(srk))
	} else {
		// Without srk the whole first partition is inside; if the bound is not
		// a legal key, this partition does not exist, and srk has no effect.
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

// AllowEntity returns AuthorizationFailure if the entity is outside the range.
func (g *Grant) AllowEntity(partition, row string) error {
	t := g.token
	if t.given.has(spk) {
		c := key.Compare(partition, t.value(spk))
		if c < 0 || c == 0 && t.given.has(srk) && key.Compare(row, t.value(srk)) < 0 {
			return refuse(table.AuthorizationFailure, "the entity is before the range of keys, spk and srk, of the token")
		}
	}
	if t.given.has(epk) {
		c := key.Compare(partition, t.value(epk))
		if c > 0 || c == 0 && t.given.has(erk) && key.Compare(row, t.value(erk)) > 0 {
			return refuse(table.AuthorizationFailure, "the entity is behind the range of keys, epk and erk, of the token")
		}
	}
	return nil
}
