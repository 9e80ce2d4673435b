package parquetfile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
)

// A parquet column has a single type, so each type of a property gets a column. The most frequent type has the name of
// the property, and the others names such as Age@Int64.

// plannedColumn is the column for one type of a property.
type plannedColumn struct {
	property string
	typ      edm.Type
	count    int64
	min, max edm.Ticks // smallest and largest value of a DateTime
	fine     bool      // true if a DateTime is not a whole number of microseconds
	raw      bool      // true if a String is not valid UTF-8

	name string
	node parquet.Node
	// unit determines the number that is stored for a DateTime. If unit is positive, this is the number of ticks,
	// multiplied by unit. If unit is negative, it is the number of ticks, divided by -unit. If unit is 0, the column
	// stores text.
	unit edm.Ticks
}

type plannedColumns struct {
	list  []*plannedColumn // columns in the order of first appearance
	index map[columnKey]*plannedColumn
}

type columnKey struct {
	property string
	typ      edm.Type
}

func (c *plannedColumns) Note(e *payload.Received) {
	if e.Timestamp != 0 {
		c.add(rows.Timestamp, edm.DateTime(e.Timestamp))
	}
	for name, v := range e.Properties.All() {
		c.add(name, v)
	}
}

// column returns the column for a property and a type, and adds it if necessary.
func (c *plannedColumns) column(k columnKey) *plannedColumn {
	one := c.index[k]
	if one == nil {
		if c.index == nil {
			c.index = map[columnKey]*plannedColumn{}
		}
		k.property = strings.Clone(k.property)
		one = &plannedColumn{property: k.property, typ: k.typ, min: edm.MaxDateTime, max: edm.MinDateTime}
		// Store Timestamp with full precision even if all values are whole microseconds. Otherwise the column type
		// would depend on the data.
		one.fine = k.property == rows.Timestamp
		c.index[k] = one
		c.list = append(c.list, one)
	}
	return one
}

// merge adds the columns of later entities.
func (c *plannedColumns) merge(after *plannedColumns) {
	for _, o := range after.list {
		one := c.column(columnKey{o.property, o.typ})
		one.count += o.count
		one.min, one.max = min(one.min, o.min), max(one.max, o.max)
		one.fine, one.raw = one.fine || o.fine, one.raw || o.raw
	}
}

func (c *plannedColumns) add(name string, v edm.Value) {
	k := columnKey{name, v.Type()}
	one := c.column(k)
	one.count++
	switch k.typ {
	case edm.TypeDateTime:
		t := v.Ticks()
		one.min, one.max = min(one.min, t), max(one.max, t)
		one.fine = one.fine || t%ticksPerMicrosecond != 0
	case edm.TypeString:
		one.raw = one.raw || !utf8.ValidString(v.Text())
	}
}

const (
	ticksPerMicrosecond = edm.TicksPerSecond / 1_000_000
	nanosPerTick        = 1_000_000_000 / edm.TicksPerSecond

	unixTicks = 621_355_968_000_000_000 // 1970-01-01 in ticks
	minNanos  = unixTicks + math.MinInt64/nanosPerTick
	maxNanos  = unixTicks + math.MaxInt64/nanosPerTick
)

func (c *plannedColumns) plan() {
	first := map[string]int{} // indexes of the first columns of the properties
	for i, one := range c.list {
		if _, known := first[one.property]; !known {
			first[one.property] = i
		}
	}
	place := func(one *plannedColumn) int {
		if one.property == rows.Timestamp {
			return -1
		}
		return first[one.property]
	}
	slices.SortStableFunc(c.list, func(a, b *plannedColumn) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(b.count, a.count), cmp.Compare(a.typ, b.typ))
	})
	for i, one := range c.list {
		one.name = one.property
		if i > 0 && c.list[i-1].property == one.property {
			one.name += "@" + rows.ShortType(one.typ)
		}
		one.choose()
	}
}

func (c *plannedColumn) choose() {
	switch c.typ {
	case edm.TypeBinary:
		c.node = parquet.Leaf(parquet.ByteArrayType)
	case edm.TypeBoolean:
		c.node = parquet.Leaf(parquet.BooleanType)
	case edm.TypeDouble:
		c.node = parquet.Leaf(parquet.DoubleType)
	case edm.TypeGuid:
		c.node = parquet.UUID()
	case edm.TypeInt32:
		c.node = parquet.Leaf(parquet.Int32Type)
	case edm.TypeInt64:
		c.node = parquet.Leaf(parquet.Int64Type)
	case edm.TypeString:
		c.node = parquet.String()
		if c.raw {
			c.node = parquet.Leaf(parquet.ByteArrayType)
		}
	case edm.TypeDateTime:
		switch {
		case !c.fine: // more programs can read microseconds than nanoseconds
			c.node, c.unit = parquet.Timestamp(parquet.Microsecond), -ticksPerMicrosecond
		case c.min > minNanos && c.max < maxNanos:
			c.node, c.unit = parquet.Timestamp(parquet.Nanosecond), nanosPerTick
		default:
			c.node = parquet.String()
		}
	}
	c.node = parquet.Optional(c.node)
}

func (c *plannedColumn) value(v edm.Value) parquet.Value {
	switch c.typ {
	case edm.TypeBoolean:
		return parquet.BooleanValue(v.Bool())
	case edm.TypeDouble:
		return parquet.DoubleValue(v.Float())
	case edm.TypeGuid:
		return parquet.FixedLenByteArrayValue(v.Bytes())
	case edm.TypeInt32:
		return parquet.Int32Value(int32(v.Int()))
	case edm.TypeInt64:
		return parquet.Int64Value(v.Int())
	case edm.TypeDateTime:
		switch t := v.Ticks() - unixTicks; {
		case c.unit > 0:
			return parquet.Int64Value(int64(t * c.unit))
		case c.unit < 0:
			return parquet.Int64Value(int64(t / -c.unit))
		}
		return parquet.ByteArrayValue(v.Ticks().AppendText(nil))
	}
	return parquet.ByteArrayValue(v.Bytes())
}

// Notes returns a sentence about each column with an unexpected name or type.
func (c *plannedColumns) Notes() (list []string) {
	for i, one := range c.list {
		if one.name != one.property {
			list = append(list, fmt.Sprintf("%s has the type %s in %d entities and the type %s in %d: the column %s contains the values of the type %s", one.property,
				rows.ShortType(c.firstOf(i).typ), c.firstOf(i).count, rows.ShortType(one.typ), one.count, one.name, rows.ShortType(one.typ)))
		}
		switch {
		case one.typ == edm.TypeDateTime && one.unit == 0:
			list = append(list, fmt.Sprintf("the column %s contains times as text, because parquet cannot store the times from %s to %s with a precision of 100 ns", one.name, one.min, one.max))
		case one.raw:
			list = append(list, fmt.Sprintf("the column %s has its strings as bytes, because some contain a lone surrogate, which UTF-8 cannot represent", one.name))
		}
	}
	return list
}

// firstOf returns the first column of a property, which has the property's name. The argument is the index of any
// column of this property.
func (c *plannedColumns) firstOf(i int) *plannedColumn {
	for c.list[i].name != c.list[i].property {
		i--
	}
	return c.list[i]
}
