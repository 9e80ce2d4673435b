package payload

import (
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Entity is an entity to insert. The caller must check that the keys are present and valid.
type Entity struct {
	PartitionKey, RowKey       string
	HasPartitionKey, HasRowKey bool           // whether the body has a non-null value for the key
	Properties                 edm.Properties // properties in the order of the body
}

// typicalMembers is the number of members that can be read without an extra allocation.
const typicalMembers = 24

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
	err = e.keys(pk, rk) // this call is not in the return statement, which may copy e before the call
	return e, err
}

// update builds properties, sorted by name, from the members of an update or merge.
func update(list []member, as spelling) (edm.Properties, error) {
	var buf [maxMembers]uint16
	order := buf[:len(list)] // sort indexes, not members, which are large
	for i := range order {
		order[i] = uint16(i)
	}
	slices.SortFunc(order, func(a, b uint16) int { return strings.Compare(list[a].name, list[b].name) })
	return encode(list, order, as)
}

// encode determines the types of the properties in list and encodes them. order holds the indexes of list in the order
// of the result. A nil order stands for the order of list.
func encode(list []member, order []uint16, as spelling) (edm.Properties, error) {
	var (
		stack      [256]byte
		scratch    = stack[:0]
		properties = make(edm.Properties, 0, size(list))
		count      int
		large      error
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
	// If both the entity and one of its properties are too large, report the entity, like the service. The keys are too
	// small to matter.
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

// isSystem reports whether the member is a system property (a key or the Timestamp), which is not part of Properties.
func (p *member) isSystem() bool {
	return p.name == partitionKey || p.name == rowKey || p.name == timestamp
}

// size returns an upper bound for the length of the encoded properties in bytes.
func size(list []member) (n int) {
	const overhead, fixed = 7, 16 // overhead is for two lengths and a type; fixed is for the longest value of fixed length
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

// keys copies the keys into e, with a single allocation for both.
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

// typedValue returns the value of a property that is not null. The value shares memory with the body or with scratch.
// The result buffer is scratch or a longer buffer, for the next call.
func (p *member) typedValue(scratch []byte, as spelling) (v edm.Value, buffer []byte, err error) {
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
		// Like the service, read an integer that is too large for Int32 as a Double.
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

// nameOfTable returns the value of the member TableName. If there is none, ok is false.
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
