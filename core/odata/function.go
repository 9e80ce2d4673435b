package odata

import "strings"

// Function is a string function that filters of [ParseExtended] may call. It reports whether the stored value is a
// String that begins with, ends with or contains the literal, compared by UTF-16 code unit. It is false for an absent
// property and for values of other types.
type Function uint8

// The functions. NoFunction stands for a comparison.
const (
	NoFunction Function = iota
	StartsWith
	EndsWith
	Contains
)

// functionNamed returns the function with the given name, or NoFunction. In OData 3, contains is named substringof and
// takes the literal as its first argument.
func functionNamed(name string) Function {
	switch name {
	case "startswith":
		return StartsWith
	case "endswith":
		return EndsWith
	case "contains", "substringof":
		return Contains
	}
	return NoFunction
}

func (f Function) String() string {
	switch f {
	case StartsWith:
		return "startswith"
	case EndsWith:
		return "endswith"
	}
	return "contains"
}

// Of returns the result of the function for the stored value s and the literal part. It compares UTF-8 bytes. UTF-16
// code units would give the same result, because in UTF-8 the bytes of one character never occur inside another
// character.
func (f Function) Of(s, part string) bool {
	switch f {
	case StartsWith:
		return strings.HasPrefix(s, part)
	case EndsWith:
		return strings.HasSuffix(s, part)
	}
	return strings.Contains(s, part)
}
