package dynamodb

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// expression is the text of a condition or an update and what its placeholders
// stand for. Every name that begins with a dot needs one, and DynamoDB refuses
// placeholders that are not used.
type expression struct {
	text   strings.Builder
	names  map[string]string
	values item
}

// own are the placeholders of the store's own attributes, which have one letter: a
// # for the dot.
func own(attr string) string {
	const all = "#a#b#c#d#e#f#g#h#i#j#k#l#m#n#o#p#q#r#s#t#u#v#w#x#y#z"
	i := 2 * int(attr[1]-'a')
	return all[i : i+2]
}

// name writes the placeholder of an attribute of ours.
func (e *expression) name(attr string) {
	placeholder := own(attr)
	if e.names == nil {
		e.names = make(map[string]string, 8)
	}
	e.names[placeholder] = attr
	e.text.WriteString(placeholder)
}

// value writes a placeholder, ":" and name, for v.
func (e *expression) value(placeholder string, v types.AttributeValue) {
	if e.values == nil {
		e.values = make(item, 8)
	}
	e.values[placeholder] = v
	e.text.WriteString(placeholder)
}

// compare writes: attr op value.
func (e *expression) compare(attr, op, placeholder string, v types.AttributeValue) {
	e.name(attr)
	e.text.WriteString(op)
	e.value(placeholder, v)
}

// missing writes that an item has no such attribute, or that there is no item.
func (e *expression) missing(attr string) {
	e.write("attribute_not_exists(")
	e.name(attr)
	e.write(")")
}

func (e *expression) write(s string) { e.text.WriteString(s) }

// String returns what was written, for the client.
func (e *expression) String() *string {
	s := e.text.String()
	return &s
}

// remove writes that attributes are to go.
func (e *expression) remove(attrs ...string) {
	e.write(" REMOVE ")
	for i, a := range attrs {
		if i > 0 {
			e.write(", ")
		}
		e.name(a)
	}
}

// change is an update on a condition, whose placeholders both expressions share.
type change struct{ update, condition expression }

func newChange() *change {
	c := new(change)
	c.update.names, c.update.values = make(map[string]string, 8), make(item, 8)
	c.condition.names, c.condition.values = c.update.names, c.update.values
	return c
}
