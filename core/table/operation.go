package table

import (
	"strings"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// Action is the kind of an [Operation].
type Action uint8

const (
	Insert          Action = iota // insert an entity, which must not exist yet
	Update                        // replace all properties of an existing entity
	MergeEntity                   // set some properties of an existing entity
	DeleteEntity                  // remove an existing entity
	InsertOrReplace               // replace all properties of an entity, or insert it
	InsertOrMerge                 // set some properties of an entity, or insert it
)

// Match is the condition of an update, merge or delete: the entity exists and, unless Any is set, has this Timestamp.
// The zero Match matches nothing, because no Timestamp is 0.
type Match struct {
	Any       bool
	Timestamp edm.Ticks
}

// Operation is a write of one entity.
type Operation struct {
	Action       Action
	PartitionKey string
	RowKey       string
	IfMatch      Match // the required ETag; used only for Update, MergeEntity and DeleteEntity
	Properties   edm.Properties
}

// mutation validates the operation and converts it to a Mutation. Limits on single properties were already checked when
// the properties were decoded.
func (op *Operation) mutation(nonce uint64) (Mutation, error) {
	k, err := encodeKey(op.PartitionKey, op.RowKey)
	if err != nil {
		return Mutation{}, err
	}
	m := Mutation{Key: k, Properties: op.Properties, Nonce: nonce}
	switch op.Action {
	case Insert:
		m.Condition = Absent
	case Update:
		m.match(op.IfMatch)
	case MergeEntity:
		m.Kind = Merge
		m.match(op.IfMatch)
	case DeleteEntity:
		m.Kind = Delete
		m.Properties = nil
		m.match(op.IfMatch)
		return m, nil
	case InsertOrMerge:
		m.Kind = Merge
	}
	return m, checkSize(m.Key, m.Properties)
}

func (m *Mutation) match(c Match) {
	m.Condition = Present
	if !c.Any {
		m.Condition, m.IfMatch = Unchanged, c.Timestamp
	}
}

func encodeKey(partitionKey, rowKey string) ([]byte, error) {
	if err := CheckKey("PartitionKey", partitionKey); err != nil {
		return nil, err
	}
	if err := CheckKey("RowKey", rowKey); err != nil {
		return nil, err
	}
	k := make([]byte, 0, len(partitionKey)+len(rowKey)+8)
	return key.Append(k, partitionKey, rowKey), nil
}

// CheckKey returns the service's error if the value is not a valid key. The parameter name is "PartitionKey" or
// "RowKey".
func CheckKey(name, value string) error {
	switch err := key.Check(value); err {
	case nil:
		return nil
	case key.ErrLength:
		return PropertyValueTooLarge.With("The " + name + " is longer than 1024 characters.")
	case key.ErrEncoding:
		return InvalidInput.With("The '" + name + "' is not valid: " + err.Error() + ".")
	default:
		const longest = 3 * key.MaxLength // maximum length of a valid key in bytes
		if len(value) > longest {
			value = strings.ToValidUTF8(value[:longest], "") + "…"
		}
		return OutOfRangeInput.With("The '" + name + "' parameter of value '" + value + "' is out of range.")
	}
}
