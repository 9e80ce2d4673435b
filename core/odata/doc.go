// Package odata parses the protocol's query options $filter, $orderby, $select and $top, evaluates filters on
// entities, and finds the key ranges that a filter needs.
//
//	f, err := odata.Parse("PartitionKey eq 'p' and not (Age lt 18)")
//	plan := odata.MakePlan(f)  // the key ranges and the residual filter
//	f.Match(key, timestamp, p) // whether one entity matches
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
// Keywords are lower-case. At most one side of a comparison is a property. "not A eq 1" negates the comparison. A
// literal without a comparison must be true or false. A property without a comparison is short for "property eq
// true".
//
// # Types
//
// PartitionKey and RowKey are strings, Timestamp is a DateTime, and a literal has the type of its notation. The type of
// any other property depends on the entity. Operands of known types must be compatible: keys compare with strings,
// Timestamp with DateTimes, and numbers with numbers. A key, DateTime or number is not a condition. A filter that
// violates these rules is a [TypeError], as in Microsoft.Data.OData.
//
// In a filter on tables ([ParseTables]), TableName is a string and the only name with a known type. Comparisons with
// TableName ignore case.
//
// # Comparisons
//
// A filter compares a stored value with a literal, without a schema:
//
//   - A property that the entity does not have fails every comparison, even ne:
//     "not (A eq 1)" matches entities without A, and "A ne 1" does not.
//   - Values of one type compare in their natural order: strings by UTF-16 code
//     unit, Binary by byte, Guid by its text, false before true, DateTime to
//     100 ns.
//   - An Int32 literal compares by value with Int32, Int64 and Double, an
//     Int64 literal (5L) with Int64 and Double, a Double literal with Double
//     only. Int64 and Double compare exactly, even above 2⁵³.
//   - For any other pair of types the stored value counts as less than the
//     literal, so ne, lt and le are true.
//   - NaN, on either side, fails every operator except ne.
//
// # Limits
//
// Filters come from untrusted clients, so their length, depth and number of comparisons are limited ([MaxLength],
// [MaxDepth], [MaxComparisons]), and evaluating a filter allocates nothing.
package odata
