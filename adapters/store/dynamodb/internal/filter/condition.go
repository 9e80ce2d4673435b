package filter

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/call"
)

// condition is a part of a filter expression: a leaf, or parts joined by AND or OR. A nil condition is true for every
// entity. A condition may accept too many entities, but never too few.
type condition struct {
	not bool

	path    []string // attribute name, followed by the type tag if the value is stored in a map
	compare string   // an operator (=, > or >=), or the name of a function
	value   types.AttributeValue

	word  string // AND or OR; "" for a leaf
	parts []*condition

	leaves, depth int
}

const (
	exists     = "attribute_exists"
	notExists  = "attribute_not_exists"
	typeIs     = "attribute_type"
	beginsWith = "begins_with"
	contains   = "contains"
)

// DynamoDB accepts expressions of up to 4 KiB with 300 operators. A leaf takes at most 41 bytes and three operators:
// its own, NOT, and AND or OR.
const (
	maxLeaves = 94 // Translate adds one more leaf
	maxDepth  = 12
)

func leaf(compare string, v types.AttributeValue, path ...string) *condition {
	return &condition{path: path, compare: compare, value: v, leaves: 1}
}

// join joins conditions with AND or OR. A condition that is nil, or that would exceed a limit, counts as true: an AND
// omits it, and an OR becomes nil.
func join(word string, parts []*condition) *condition {
	c := &condition{word: word}
	for _, p := range parts {
		if p == nil || c.leaves+p.leaves > maxLeaves || p.depth >= maxDepth {
			if word == "OR" {
				return nil
			}
			continue
		}
		c.leaves += p.leaves
		if p.word == word && !p.not {
			c.parts = append(c.parts, p.parts...)
			c.depth = max(c.depth, p.depth)
		} else {
			c.parts = append(c.parts, p)
			c.depth = max(c.depth, p.depth+1)
		}
	}
	switch len(c.parts) {
	case 0:
		return nil
	case 1:
		return c.parts[0]
	}
	return c
}

func (c *condition) expression() *call.Filter {
	w := conditionWriter{placeholders: make(map[string]string), filter: call.Filter{Names: make(map[string]string), Values: make(call.Item)}}
	w.condition(c)
	w.filter.Text = w.text.String()
	return &w.filter
}

type conditionWriter struct {
	filter       call.Filter
	text         strings.Builder
	placeholders map[string]string // placeholders by attribute name
}

func (f *conditionWriter) write(s string) { f.text.WriteString(s) }

func (f *conditionWriter) value(v types.AttributeValue) {
	placeholder := call.Numbered(":", len(f.filter.Values))
	f.filter.Values[placeholder] = v
	f.write(placeholder)
}

// condition writes the text of c with as few parentheses as possible, because DynamoDB rejects redundant parentheses.
func (f *conditionWriter) condition(c *condition) {
	if c.not {
		f.write("NOT (")
		defer f.write(")")
	}
	if c.word == "" {
		f.leaf(c)
		return
	}
	for i, p := range c.parts {
		if i > 0 {
			f.write(" " + c.word + " ")
		}
		if p.word != "" && !p.not {
			f.write("(")
			f.condition(p)
			f.write(")")
		} else {
			f.condition(p)
		}
	}
}

func (f *conditionWriter) leaf(c *condition) {
	if c.compare[0] <= '>' { // the comparison is an operator, not a function
		f.path(c.path)
		f.write(c.compare)
		f.value(c.value)
		return
	}
	f.write(c.compare)
	f.write("(")
	f.path(c.path)
	if c.value != nil {
		f.write(",")
		f.value(c.value)
	}
	f.write(")")
}

func (f *conditionWriter) path(path []string) {
	for i, name := range path {
		if i > 0 {
			f.write(".")
		}
		p := f.placeholders[name]
		if p == "" {
			p = call.Numbered("#", len(f.placeholders))
			f.placeholders[name] = p
			f.filter.Names[p] = name
		}
		f.write(p)
	}
}
