// Package odata reads the query options of the protocol, $filter, $select and
// $top, evaluates a filter on entities, and finds the ranges of keys that a
// filter needs.
//
//	f, err := odata.Parse("PartitionKey eq 'p' and not (Age lt 18)")
//	plan := odata.MakePlan(f)  // the key ranges and the residual filter
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
// type of its notation; the type of every other property is known only from an
// entity. Operands of known types must fit: a key is compared with strings,
// Timestamp with DateTimes, numbers with numbers, and no key, DateTime or number
// is a condition. Any other pair is a [TypeError], as in Microsoft.Data.OData.
//
// In a filter on tables ([ParseTables]) TableName is a string and the only name
// with a type; comparison ignores case.
//
// # Comparisons
//
// A filter compares a stored value with a literal, without a schema:
//
//   - A property that the entity does not have fails every comparison, ne
//     included, so "not (A eq 1)" passes entities without A and "A ne 1" does
//     not.
//   - Values of one type are compared in their natural order: strings by UTF-16
//     code unit, Binary by byte, Guid by its text, false below true, DateTime
//     to 100 ns.
//   - An Int32 literal is compared by value with Int32, Int64 and Double, an
//     Int64 literal (5L) with Int64 and Double, a Double literal with Double
//     alone. Int64 and Double are compared exactly, above 2⁵³ too.
//   - In every other pair of types the stored value is less than the literal:
//     ne, lt and le hold.
//   - NaN, on either side, fails every operator except ne.
//
// # Bounds
//
// Filters come from untrusted clients: their length, depth and number of
// comparisons are bounded ([MaxLength], [MaxDepth], [MaxComparisons]), and
// evaluating a filter allocates nothing.
package odata
