package odata

import "edgetable/core/key"

// Plan says which key ranges a query must read and which filter it must apply to them.
type Plan struct {
	// Ranges are non-empty, disjoint and ascending. If there are none, no entity matches.
	Ranges []key.Range
	// Residual is the filter to evaluate for each entity in Ranges. If Residual is nil, all of these entities match.
	Residual *Filter
	// Kind describes the widest range, before adjacent ranges are joined:
	//
	//	Nothing    there is no range
	//	Point      there is one range; it contains one entity and starts at the key of this entity
	//	Points     there are several ranges, each with one entity
	//	Rows       the widest range is a part of a partition
	//	Partition  the widest range is a whole partition
	//	Range      the widest range contains several partitions
	//	Table      the range is the whole table
	Kind string
}

// maxRanges is the maximum number of ranges in a plan, because a store performs one seek for each. If a filter needs
// more, its plan has a single range that contains all of them.
const maxRanges = 100

// MakePlan returns the plan for a filter; nil selects the whole table. The ranges come from comparisons of keys and
// from startswith on keys, combined by and, or and not.
//
// Every plan is exact: the filter matches an entity with a valid key if and only if the key is in one of the ranges and
// the residual matches the entity.
func MakePlan(f *Filter) Plan {
	if f == nil {
		return Plan{Ranges: []key.Range{{}}, Kind: widthTable.String()}
	}
	conjuncts := []*expr{f.root}
	if f.root.kind == conjunction {
		conjuncts = f.root.operands
	}
	all := everything()
	said := make([]bool, len(conjuncts)) // for each conjunct: whether the ranges express the conjunct completely, so that the residual omits it
	for i, c := range conjuncts {
		all.exact = true
		all.intersect(regionOf(c, false))
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

// regionOf returns a region that contains every entity for which e is true, or for which e is false if negated is set.
// If e tests no key, the region contains all entities.
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
		if negated { // the result is exact for keys, because a key is never absent or NaN
			op ^= less | equal | greater
		}
		return keyRegion(e.field, op, e.literal.Text())
	case negation:
		return regionOf(e.operands[0], !negated)
	}
	if (e.kind == conjunction) != negated {
		all := everything()
		for _, o := range e.operands {
			all.intersect(regionOf(o, negated))
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
