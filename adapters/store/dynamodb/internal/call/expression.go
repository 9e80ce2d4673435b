package call

import (
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Expression is the condition of a write and what an update sets and removes, with
// the placeholders that both share. The zero value is ready to use. DynamoDB demands
// a placeholder for every name that begins with a dot, and refuses placeholders that
// are not used.
//
// The store's own attributes have names of a dot and one letter; the placeholder of .t is #t. A placeholder of a
// value begins with a colon; the caller chooses it.
type Expression struct {
	condition, update strings.Builder
	fixed             *string // used instead of condition
	names             map[string]string
	shared            bool // the map names belongs to a Template
	values            Item
}

// Template is a condition without values that many expressions share.
type Template struct {
	condition *string
	names     map[string]string
}

// Template makes a Template from a condition whose values are all nil.
func (e *Expression) Template() Template { return Template{e.Condition(), e.names} }

// Start makes an expression with this condition. Its values must be bound.
func (t Template) Start(e *Expression) { e.fixed, e.names, e.shared = t.condition, t.names, true }

// Condition returns the text of the condition, or nil.
func (e *Expression) Condition() *string {
	if e.fixed != nil {
		return e.fixed
	}
	return textOf(&e.condition)
}

// Update returns the text of the update, or nil.
func (e *Expression) Update() *string { return textOf(&e.update) }

func textOf(b *strings.Builder) *string {
	if b.Len() == 0 {
		return nil
	}
	s := b.String()
	return &s
}

// If requires that an attribute compares with v as op says, such as "=". placeholder is the name of the value in the
// expression.
func (e *Expression) If(attr, op, placeholder string, v types.AttributeValue) {
	e.and()
	e.condition.WriteString(e.name(attr))
	e.condition.WriteString(op)
	e.condition.WriteString(placeholder)
	e.Bind(placeholder, v)
}

// IfMissing requires that the item has no such attribute, or that there is no item.
func (e *Expression) IfMissing(attr string) {
	e.and()
	e.condition.WriteString("attribute_not_exists(")
	e.condition.WriteString(e.name(attr))
	e.condition.WriteString(")")
}

// Demand adds a condition written by the caller, who must bind its names and values.
func (e *Expression) Demand(text string) {
	e.and()
	e.condition.WriteString(text)
}

// Or separates two conjunctions.
func (e *Expression) Or() { e.condition.WriteString(or) }

const and, or = " AND ", " OR "

func (e *Expression) and() {
	if s := e.condition.String(); s != "" && !strings.HasSuffix(s, or) {
		e.condition.WriteString(and)
	}
}

// Set sets attr to a value.
func (e *Expression) Set(attr, placeholder string, v types.AttributeValue) {
	e.set(e.name(attr))
	e.update.WriteString(placeholder)
	e.Bind(placeholder, v)
}

// SetDefault sets attr to a value if the item has no such attribute.
func (e *Expression) SetDefault(attr, placeholder string, v types.AttributeValue) {
	e.set(e.name(attr))
	e.update.WriteString("if_not_exists(")
	e.update.WriteString(e.name(attr))
	e.update.WriteString(",")
	e.update.WriteString(placeholder)
	e.update.WriteString(")")
	e.Bind(placeholder, v)
}

// Add sets attr to n plus its current value, or plus base if the item has no such attribute.
func (e *Expression) Add(attr, basePlaceholder string, base types.AttributeValue, placeholder string, n types.AttributeValue) {
	e.SetDefault(attr, basePlaceholder, base)
	e.update.WriteString("+")
	e.update.WriteString(placeholder)
	e.Bind(placeholder, n)
}

// SetProperty sets an attribute of any name, with the i-th pair of placeholders. Placeholders have three characters,
// so that 252 of them fit into an expression.
func (e *Expression) SetProperty(i int, name string, v types.AttributeValue) {
	placeholder := Numbered("#", i)
	e.bindName(placeholder, name)
	e.set(placeholder)
	value := ":" + placeholder[1:]
	e.update.WriteString(value)
	e.Bind(value, v)
}

// Remove removes attributes. It must be called after everything is set.
func (e *Expression) Remove(attrs ...string) {
	separator := " REMOVE "
	if e.update.Len() == 0 {
		separator = "REMOVE "
	}
	for _, a := range attrs {
		e.update.WriteString(separator)
		e.update.WriteString(e.name(a))
		separator = ","
	}
}

// Bind binds a placeholder to a value.
func (e *Expression) Bind(placeholder string, v types.AttributeValue) {
	if e.values == nil {
		e.values = make(Item, 8)
	}
	e.values[placeholder] = v
}

func (e *Expression) set(name string) {
	if e.update.Len() == 0 {
		e.update.WriteString("SET ")
	} else {
		e.update.WriteString(",")
	}
	e.update.WriteString(name)
	e.update.WriteString("=")
}

// name returns the placeholder of one of the store's own attributes.
func (e *Expression) name(attr string) string {
	const all = "#a#b#c#d#e#f#g#h#i#j#k#l#m#n#o#p#q#r#s#t#u#v#w#x#y#z"
	i := 2 * int(attr[1]-'a')
	placeholder := all[i : i+2]
	if _, ok := e.names[placeholder]; !ok {
		e.bindName(placeholder, attr)
	}
	return placeholder
}

// BindName binds a name placeholder, which the caller wrote, to an attribute name.
func (e *Expression) BindName(placeholder, name string) { e.bindName(placeholder, name) }

func (e *Expression) bindName(placeholder, name string) {
	switch {
	case e.shared:
		e.names, e.shared = maps.Clone(e.names), false
	case e.names == nil:
		e.names = make(map[string]string, 8)
	}
	e.names[placeholder] = name
}

// Numbered returns the i-th placeholder of three characters.
func Numbered(prefix string, i int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	return prefix + string([]byte{digits[i/len(digits)%len(digits)], digits[i%len(digits)]})
}
