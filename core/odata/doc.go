// Package odata reads the query options of the protocol, $filter, $select and
// $top, judges entities by a filter, and finds the ranges of keys a filter
// needs.
//
//	f, err := odata.Parse("PartitionKey eq 'p' and not (Age lt 18)")
//	plan := odata.MakePlan(f)  // where to look, and what is left to judge
//	f.Match(key, timestamp, p) // whether one entity passes
//
// # Grammar
//
//	expr       = andExpr { "or" andExpr }
//	andExpr    = unary { "and" unary }
//	unary      = "not" unary | primary
//	primary    = "(" expr ")" | comparison | literal | property
//	comparison = operand ( "eq" | "ne" | "gt" | "ge" | "lt" | "le" ) operand
//	operand    = property | literal | "(" operand ")"
//
// Keywords are lower-case; a comparison has a property on one side at most.
// "not A eq 1" negates the comparison. A bare literal must be true or false; a
// bare property is short for "property eq true".
//
// # Types
//
// PartitionKey and RowKey are strings, Timestamp is a DateTime, a literal has the
// type it is written as; the type of every other property is not known before an
// entity is seen. Operands of known types must fit: a key is compared with
// strings, Timestamp with DateTimes, numbers with numbers, and neither is a
// condition. Any other pair is a [TypeError], as in Microsoft.Data.OData.
//
// In a filter on tables ([ParseTables]) TableName is a string and the only name
// with a type; case does not count.
//
// # Comparisons
//
// A filter judges what is stored against a literal without a schema:
//
//   - A property the entity does not have fails every comparison, ne included,
//     so "not (A eq 1)" passes entities without A and "A ne 1" does not.
//   - Values of one type compare as one expects: strings by UTF-16 code unit,
//     Binary by byte, Guid by its text, false below true, 100 ns in a DateTime.
//   - An Int32 literal is compared by value with Int32, Int64 and Double, an
//     Int64 literal (5L) with Int64 and Double, a Double literal with Double
//     alone. Int64 and Double are compared exactly, above 2⁵³ too.
//   - In every other pair of types the stored value is the lesser one: ne, lt
//     and le hold.
//   - NaN, on either side, fails all but ne.
//
// # Bounds
//
// Filters come from strangers: their length, depth and number of comparisons
// are bounded ([MaxLength], [MaxDepth], [MaxComparisons]), and judging an entity
// allocates nothing.
package odata
