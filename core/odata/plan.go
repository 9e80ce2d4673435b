package odata

import "edgetable/core/key"

// Plan says where the entities that match a filter can be.
type Plan struct {
	// Ranges are non-empty, disjoint and ascending. An empty list means that nothing matches.
	Ranges []key.Range
	// Residual is the filter to evaluate on the entities in Ranges; nil if all of them match.
	Residual *Filter
	// Kind names the plan in one word, after its widest range:
	//
	//	Nothing    no range
	//	Point      one entity; the range starts at its key
	//	Points     several entities
	//	Rows       part of a partition, or of several
	//	Partition  a partition, or several
	//	Range      a range of partitions, or several
	//	Table      everything
	Kind string
}

// maxRanges is the maximum number of ranges in a plan. A store seeks once per range; a plan that would have more gets
// a single range that spans them.
const maxRanges = 100

// MakePlan plans a filter; nil means the whole table. It uses comparisons of PartitionKey and RowKey, and startswith
// on them, inside and, or and not. RowKey narrows a range only within a single partition.
//
// Every plan obeys this law: for every entity with a legal key, the filter matches it if and only if its key is in a
// range and the residual matches it.
func MakePlan(f *Filter) Plan {
	if f == nil {
		return Plan{Ranges: []key.Range{{}}, Kind: widthTable.String()}
	}
	conjuncts := []*expr{f.root}
	if f.root.kind == conjunction {
		conjuncts = f.root.operands
	}
	all := everything()
	said := make([]bool, len(conjuncts)) // one per conjunct: whether the boxes of all express the conjunct
	for i, c := range conjuncts {
		all.exact = true
		all.narrow(regionOf(c, false))
		said[i] = all.exact
	}
	ranges, width, lost := rangesOf(all.boxes)
	if len(ranges) == 0 {
		return Plan{Kind: widthNothing.String()}
	}
	var residual []*expr
	for i, c := range conjuncts {
		if !said[i] || lost && c.mentions(fieldRowKey) {
			residual = append(residual, c)
		}
	}
	p := Plan{Ranges: ranges, Kind: width.String()}
	if width == widthPoint && len(ranges) > 1 {
		p.Kind = "Points"
	}
	if len(residual) > 0 {
		p.Residual = &Filter{root: combine(conjunction, residual), names: f.names}
	}
	return p
}

// regionOf returns the region of an expression, or of its negation. An expression that does not compare keys may hold
// anywhere, and so may its negation.
func regionOf(e *expr, negated bool) region {
	switch e.kind {
	case constant:
		return constantRegion(e.truth != negated)
	case function:
		if e.function != StartsWith || e.field != fieldPartitionKey && e.field != fieldRowKey {
			return region{boxes: everything().boxes}
		}
		return prefixRegion(e.field, e.literal.Text(), negated)
	case comparison:
		if e.field != fieldPartitionKey && e.field != fieldRowKey {
			return region{boxes: everything().boxes}
		}
		op := e.op
		if negated { // a key is never absent or NaN, so the complement is exact
			op ^= less | equal | greater
		}
		return keyRegion(e.field, op, e.literal.Text())
	case negation:
		return regionOf(e.operands[0], !negated)
	}
	if (e.kind == conjunction) != negated {
		all := everything()
		for _, o := range e.operands {
			all.narrow(regionOf(o, negated))
		}
		return all
	}
	any := region{exact: true}
	for _, o := range e.operands {
		any.widen(regionOf(o, negated))
	}
	return any
}

func (e *expr) mentions(f field) bool {
	if e.kind == comparison || e.kind == function {
		return e.field == f
	}
	for _, o := range e.operands {
		if o.mentions(f) {
			return true
		}
	}
	return false
}
