package sas

import (
	"strings"

	"edgetable/core/key"
	"edgetable/core/table"
)

// Operation is what a request wants to do.
type Operation uint8

const (
	GetServiceProperties Operation = iota + 1
	SetServiceProperties
	GetServiceStats
	QueryTables // also of one table by name
	CreateTable
	DeleteTable
	TableACL // reading and writing it
	GetUserDelegationKey
	QueryEntities // also of one entity by its keys
	InsertEntity
	UpsertEntity // insert or replace, insert or merge
	UpdateEntity // replace or merge, with a condition
	DeleteEntity
)

// rights says what an operation needs: the resource type with all the letters, of
// an account SAS; the letters alone, of a token for a table.
type rights struct {
	name    string
	types   string // letter of srt
	letters string // letters of sp, all of them
	or      string // letters that do as well
	entity  bool   // a token for a table can give it
}

// needs is indexed by Operation. An operation without types is for others than
// holders of a token: the access policies for the owner, a delegation key for a
// user. Listing is documented as of containers in one place, of the service in
// another: users found that the service goes by the first.
var needs = [...]rights{
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

// Grant is what a verified token allows. A Grant is not changed by its use.
type Grant struct {
	token       *Token
	permissions string // of token or policy, less what a user may not do
}

// Allow returns nil if the operation is allowed on the table, whose name may be
// in any case and is "" for an operation without a table. Otherwise it is 403:
// AuthorizationFailure for what this kind of token never allows and for
// another table than the token's, AuthorizationServiceMismatch and
// AuthorizationResourceTypeMismatch for an account SAS of others, and
// AuthorizationPermissionMismatch for a missing letter. Of a query and of every
// entity, [Grant.Range] and [Grant.AllowEntity] have a say too.
func (g *Grant) Allow(op Operation, tableName string) error {
	t := g.token
	if int(op) >= len(needs) || needs[op].name == "" {
		return table.AuthorizationFailure.Err()
	}
	need := &needs[op]
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

// equalFold compares a folded name with another.
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

// Range is the entities a query may return, in the encoding of package key; nil
// for all of the table. It may be empty. The bounds of a token are any strings,
// also ones that no key can be.
func (g *Grant) Range() *key.Range {
	t := g.token
	if !t.given.has(spk) && !t.given.has(epk) {
		return nil
	}
	var r key.Range
	if p := t.value(spk); t.given.has(srk) && key.Check(p) == nil {
		r.Start = key.RowFrom(p, t.value(srk))
	} else {
		// Without srk the whole first partition is inside; if the bound is no
		// legal key there is none, and srk has nothing to bound.
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
