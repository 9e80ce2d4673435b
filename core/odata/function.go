package odata

import "strings"

// Function is a string function in a filter of [ParseExtended]. It tests whether a String begins with, ends with or
// contains the literal. It is false for other types.
type Function uint8

// These are the functions. NoFunction stands for a comparison.
const (
	NoFunction Function = iota
	StartsWith
	EndsWith
	Contains
)

// functionNamed returns the function with the given name, or NoFunction. substringof is the name of contains in OData
// 3, where the literal is the first argument.
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

// Of returns the result of the function for a stored value and a literal. It compares UTF-8 bytes. The result is the
// same as for UTF-16 code units.
func (f Function) Of(s, part string) bool {
	switch f {
	case StartsWith:
		return strings.HasPrefix(s, part)
	case EndsWith:
		return strings.HasSuffix(s, part)
	}
	return strings.Contains(s, part)
}
