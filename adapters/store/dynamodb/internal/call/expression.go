package call

import (
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Expression contains the condition of a write and the changes of an update, with their placeholders. The zero value is
// ready to use.
//
// DynamoDB requires placeholders for names that begin with a dot, as the names of store attributes do. The placeholder
// of .t is #t. The placeholder of a value begins with a colon, and the caller chooses it. DynamoDB rejects unused
// placeholders.
type Expression struct {
	condition, update strings.Builder
	fixed             *string // if not nil, the text of the condition, which comes from a Template
	names             map[string]string
	shared            bool // the map in the field names belongs to a Template, and must be cloned before it is changed
	values            Item
}

// MaxName is the maximum length of an attribute name in an expression, in bytes.
const MaxName = 255

// Template is a condition that many expressions share. It contains no values; each expression binds its values.
type Template struct {
	condition *string
	names     map[string]string
}

// Template returns the condition of e as a Template. All values in e must be nil.
func (e *Expression) Template() Template { return Template{e.Condition(), e.names} }

// Start sets the condition of e to the condition of the template. The caller must bind the values.
func (t Template) Start(e *Expression) { e.fixed, e.names, e.shared = t.condition, t.names, true }

// Condition returns the text of the condition, or nil if there is none.
func (e *Expression) Condition() *string {
	if e.fixed != nil {
		return e.fixed
	}
	return textOf(&e.condition)
}

// Update returns the text of the update, or nil if there is none.
func (e *Expression) Update() *string { return textOf(&e.update) }

func textOf(b *strings.Builder) *string {
	if b.Len() == 0 {
		return nil
	}
	s := b.String()
	return &s
}

// If(attr, op, placeholder, v) adds a condition that compares an attribute with v by the operator op, such as "=". The
// placeholder stands for v in the text.
func (e *Expression) If(attr, op, placeholder string, v types.AttributeValue) {
	e.and()
	e.condition.WriteString(e.name(attr))
	e.condition.WriteString(op)
	e.condition.WriteString(placeholder)
	e.Bind(placeholder, v)
}

// IfMissing requires that the item does not have the attribute, or that there is no item.
func (e *Expression) IfMissing(attr string) {
	e.and()
	e.condition.WriteString("attribute_not_exists(")
	e.condition.WriteString(e.name(attr))
	e.condition.WriteString(")")
}

// Demand adds a condition as text. The caller must bind the names and values in the text.
func (e *Expression) Demand(text string) {
	e.and()
	e.condition.WriteString(text)
}

// Or() writes the operator OR before the next condition, instead of AND.
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

// SetDefault sets attr to a value if the item does not have the attribute.
func (e *Expression) SetDefault(attr, placeholder string, v types.AttributeValue) {
	e.set(e.name(attr))
	e.update.WriteString("if_not_exists(")
	e.update.WriteString(e.name(attr))
	e.update.WriteString(",")
	e.update.WriteString(placeholder)
	e.update.WriteString(")")
	e.Bind(placeholder, v)
}

// Add adds n to attr. If the item does not have the attribute, Add sets the attribute to base plus n.
func (e *Expression) Add(attr, basePlaceholder string, base types.AttributeValue, placeholder string, n types.AttributeValue) {
	e.SetDefault(attr, basePlaceholder, base)
	e.update.WriteString("+")
	e.update.WriteString(placeholder)
	e.Bind(placeholder, n)
}

// SetProperty sets an attribute, which may have any name. It uses the i-th numbered placeholders, which are so short
// that one expression can set 252 properties.
func (e *Expression) SetProperty(i int, name string, v types.AttributeValue) {
	placeholder := Numbered("#", i)
	e.bindName(placeholder, name)
	e.set(placeholder)
	value := ":" + placeholder[1:]
	e.update.WriteString(value)
	e.Bind(value, v)
}

// Remove removes attributes. Set, SetDefault, Add and SetProperty must not be called after it.
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

// name returns the placeholder of a store attribute.
func (e *Expression) name(attr string) string {
	const all = "#a#b#c#d#e#f#g#h#i#j#k#l#m#n#o#p#q#r#s#t#u#v#w#x#y#z"
	i := 2 * int(attr[1]-'a')
	placeholder := all[i : i+2]
	if _, ok := e.names[placeholder]; !ok {
		e.bindName(placeholder, attr)
	}
	return placeholder
}

// BindName binds a name placeholder to an attribute name. A condition that was added with Demand may contain the
// placeholder.
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

// Numbered returns the i-th numbered placeholder: the prefix and two digits in base 36.
func Numbered(prefix string, i int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	return prefix + string([]byte{digits[i/len(digits)%len(digits)], digits[i%len(digits)]})
}
