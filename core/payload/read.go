package payload

import (
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Entity is an entity to insert. This package does not check whether the keys are present and legal; the caller must
// check the keys.
type Entity struct {
	PartitionKey, RowKey       string
	HasPartitionKey, HasRowKey bool           // set if the body has a value for the key that is not null
	Properties                 edm.Properties // in the body's order
}

// typicalMembers is the number of members for which reading needs no extra allocation.
const typicalMembers = 24

// entity builds an Entity from the members of an insert.
func entity(list []member, as spelling) (Entity, error) {
	properties, err := encode(list, nil, as)
	if err != nil {
		return Entity{}, err
	}
	e := Entity{Properties: properties}
	var pk, rk *member
	for i := range list {
		switch p := &list[i]; {
		case !p.given:
		case p.name == partitionKey:
			pk = p
		case p.name == rowKey:
			rk = p
		}
	}
	err = e.keys(pk, rk) // not part of the return statement, which might copy e before the call changes e
	return e, err
}

// update builds properties that are sorted by name, from the members of an update or merge.
func update(list []member, as spelling) (edm.Properties, error) {
	var buf [maxMembers]uint16
	order := buf[:len(list)] // sort indexes, because members are large structs
	for i := range order {
		order[i] = uint16(i)
	}
	slices.SortFunc(order, func(a, b uint16) int { return strings.Compare(list[a].name, list[b].name) })
	return encode(list, order, as)
}

// encode determines the types of the properties and encodes them. If an entity and one of its properties are both too
// large, it reports the entity, like the service. Keys do not count for the size of the entity, because they are too
// small to matter. The parameter order gives the order of the properties in the result: it holds indexes into list. If
// this parameter is nil, the result has the order of list.
func encode(list []member, order []uint16, as spelling) (edm.Properties, error) {
	var (
		stack      [256]byte
		scratch    = stack[:0]
		properties = make(edm.Properties, 0, size(list))
		count      int
		large      error // the error for the first property that is too large, if any
	)
	for i := range list {
		if order != nil {
			i = int(order[i])
		}
		p := &list[i]
		if !p.given || p.isSystem() {
			continue
		}
		if err := table.CheckPropertyName(p.name); err != nil {
			return nil, explain(err, "Name: "+quote(p.name)+".")
		}
		if p.value.kind == kindNull {
			continue
		}
		if count++; count > table.MaxProperties {
			return nil, table.TooManyProperties.Err()
		}
		v, grown, err := p.typedValue(scratch, as)
		if err == nil {
			err = table.CheckValue(p.name, v)
		}
		if e, ok := err.(*table.Error); ok && e.Code == table.PropertyValueTooLarge {
			if large == nil {
				large = explain(e, "Property: "+quote(p.name)+".")
			}
		} else if err != nil {
			return nil, err
		}
		scratch = grown
		properties = edm.AppendProperty(properties, p.name, v)
	}
	switch {
	case count == 0:
		return nil, nil
	case large == nil:
		return properties, nil
	case table.EntitySize("", "", properties) > table.MaxEntitySize:
		return nil, table.EntityTooLarge.Err()
	}
	return nil, large
}

// isSystem reports whether the member is a system property: a key or the Timestamp. Such a member is not part of
// Properties.
func (p *member) isSystem() bool {
	return p.name == partitionKey || p.name == rowKey || p.name == timestamp
}

// size returns an upper bound for the size in bytes of the encoded properties.
func size(list []member) (n int) {
	const overhead, fixed = 7, 16 // in bytes: the size of two lengths and a type; the size of the longest value that is not a text or bytes
	for i := range list {
		p := &list[i]
		if p.given && p.value.kind != kindNull && !p.isSystem() {
			n += overhead + len(p.name) + fixed
			if p.value.kind == kindString {
				n += len(p.value.text)
			}
		}
	}
	return n
}

// keys copies the PartitionKey and the RowKey into e, with a single allocation for both.
func (e *Entity) keys(pk, rk *member) error {
	var buf []byte
	for _, p := range [...]*member{pk, rk} {
		if p == nil || p.value.kind == kindNull {
			continue
		}
		t, err := p.annotation()
		if err != nil {
			return err
		}
		if p.value.kind != kindString || t != edm.TypeNull && t != edm.TypeString {
			return table.InvalidInput.With(table.InvalidInput.Err().Message + " The " + p.name + " is not a string.")
		}
		s, _, lone := p.value.characters(nil)
		if lone {
			return invalid("The " + p.name + " has a lone surrogate: keys must be valid Unicode.")
		}
		if p == pk {
			e.HasPartitionKey = true
			n := len(s)
			if rk != nil {
				n += len(rk.value.text)
			}
			buf = append(make([]byte, 0, n), s...)
			e.PartitionKey = view(buf)
			continue
		}
		e.HasRowKey = true
		buf = append(buf, s...)
		e.RowKey = view(buf[len(e.PartitionKey):])
	}
	return nil
}

// typedValue returns the value of a property that is not null. The value shares memory with the body or with the buffer
// scratch. The second result is the buffer for the next call, because the decoding may have allocated a longer buffer.
func (p *member) typedValue(scratch []byte, as spelling) (v edm.Value, grown []byte, err error) {
	t, err := p.annotation()
	if err != nil {
		return v, scratch, err
	}
	switch k := p.value.kind; k {
	case kindTrue, kindFalse:
		if t != edm.TypeNull && t != edm.TypeBoolean {
			return v, scratch, mistyped(p, t)
		}
		return edm.Boolean(k == kindTrue), scratch, nil
	case kindString:
		var s string
		var lone bool
		if s, scratch, lone = p.value.characters(scratch); lone {
			return v, scratch, invalid("The value of " + quote(p.name) + " has a lone surrogate: strings must be valid Unicode.")
		}
		if t == edm.TypeNull || t == edm.TypeString {
			v = edm.String(s)
		} else if v, err = as.parse(t, s); err != nil {
			return v, scratch, invalid("The value of " + quote(p.name) + " is " + err.Error() + ": " + quote(s) + ".")
		}
	default:
		if v, err = p.number(t, as); err != nil {
			return v, scratch, err
		}
	}
	return v, scratch, nil
}

func (p *member) number(t edm.Type, as spelling) (edm.Value, error) {
	literal := p.value.text
	natural := edm.TypeInt32
	if p.value.kind == kindDecimal {
		natural = edm.TypeDouble
	}
	if t == edm.TypeNull {
		t = natural
	}
	if t != natural && t != edm.TypeDouble && (t != edm.TypeInt64 || natural == edm.TypeDouble || as == serviceSpelling) {
		return edm.Value{}, mistyped(p, t)
	}
	v, err := as.parse(t, literal)
	if err != nil && natural == edm.TypeInt32 && !p.annotated {
		// Like the service's reader, treat an integer that is too large for an Int32 as a Double.
		v, err = edm.Parse(edm.TypeDouble, literal)
	}
	if err != nil {
		hint := ""
		if t == edm.TypeInt32 {
			hint = " Send a larger number as a string annotated as Edm.Int64."
		}
		return v, invalid("The value of " + quote(p.name) + " is " + err.Error() + ": " + quote(literal) + "." + hint)
	}
	return v, nil
}

func mistyped(p *member, t edm.Type) error {
	return invalid("The property " + quote(p.name) + " is annotated as " + t.String() + ", but its value is of another JSON type: send it as a string.")
}

// nameOfTable returns the value of the member TableName; ok is false if there is no such member.
func nameOfTable(list []member) (name string, ok bool, err error) {
	for i := range list {
		p := &list[i]
		if p.name != tableName || !p.given || p.value.kind == kindNull {
			continue
		}
		t, err := p.annotation()
		if err != nil {
			return "", false, err
		}
		if p.value.kind != kindString || t != edm.TypeNull && t != edm.TypeString {
			return "", false, invalid("The " + tableName + " is not a string.")
		}
		s, _, _ := p.value.characters(nil)
		return strings.Clone(s), true, nil
	}
	return "", false, nil
}
