package payload

import "edgetable/core/edm"

// Received is an entity from a response of a service. It shares memory with the [Reader] that returned it.
type Received struct {
	PartitionKey, RowKey string    // a key is "" if the response lacks it, for example because of $select
	Timestamp            edm.Ticks // Timestamp of the entity, or 0 if the response has none
	Properties           edm.Properties
}

// Reader reads the entities in responses, for clients. It accepts JSON with type annotations, ignores nulls, and checks
// no limits. An entity is valid until the next method call.
type Reader struct {
	s          scanner
	index      index
	list       []member
	properties edm.Properties
	pk, rk     []byte
	scratch    []byte
	inFeed     bool // whether an entity of the feed has been read
}

// Entity reads a body with a single entity.
func (r *Reader) Entity(body []byte) (Received, error) {
	r.s = scanner{body: body}
	return r.entity()
}

// Feed begins to read the response to a query. [Reader.Next] then returns the entities.
func (r *Reader) Feed(body []byte) error {
	r.s, r.inFeed = scanner{body: body, within: true}, false
	s := &r.s
	if err := s.begin(); err != nil {
		return err
	}
	for {
		if s.skip() == ',' {
			s.pos++
			s.skip()
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		if s.skip() != ':' {
			return s.syntax("expected : after the name of a member")
		}
		s.pos++
		if name.text != "value" {
			if _, err = s.scalar(); err != nil {
				return err
			}
			continue
		}
		if s.skip() != '[' {
			return s.syntax("expected a list of entities, […]")
		}
		s.pos++
		return nil
	}
}

// Next returns the next entity of the feed. After the last one, ok is false.
func (r *Reader) Next() (e Received, ok bool, err error) {
	c := r.s.skip()
	if r.inFeed && c == ',' {
		r.s.pos++
		r.s.skip()
	} else if c == ']' {
		r.s.pos++
		if c = r.s.skip(); c != '}' && c != ',' {
			return e, false, r.s.syntax("expected , or } after the list of entities")
		}
		return e, false, nil
	} else if r.inFeed {
		return e, false, r.s.syntax("expected , or ]")
	}
	r.inFeed, r.s.begun = true, false
	e, err = r.entity()
	return e, err == nil, err
}

func (r *Reader) entity() (e Received, err error) {
	clear(r.index[:])
	if r.list, err = r.index.collect(&r.s, r.list[:0]); err != nil {
		return e, err
	}
	r.properties = r.properties[:0]
	for i := range r.list {
		p := &r.list[i]
		if !p.given || p.value.kind == kindNull {
			continue
		}
		if p.isSystem() {
			err = r.readSystem(&e, p)
		} else {
			var v edm.Value
			if v, r.scratch, err = p.typedValue(r.scratch, fileSpelling); err == nil {
				r.properties = edm.AppendProperty(r.properties, p.name, v)
			}
		}
		if err != nil {
			return e, err
		}
	}
	e.Properties = r.properties
	return e, nil
}

func (r *Reader) readSystem(e *Received, p *member) (err error) {
	if p.value.kind != kindString {
		return invalid("The " + p.name + " is not a string.")
	}
	switch p.name {
	case partitionKey:
		e.PartitionKey, r.pk, _ = p.value.characters(r.pk)
	case rowKey:
		e.RowKey, r.rk, _ = p.value.characters(r.rk)
	default:
		var text string
		text, r.scratch, _ = p.value.characters(r.scratch)
		if e.Timestamp, err = edm.ParseDateTime(text); err != nil {
			return invalid("The Timestamp is " + err.Error() + ": " + quote(text) + ".")
		}
	}
	return nil
}
