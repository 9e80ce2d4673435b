package odata

import "strings"

// Function is a function of strings that a filter of [ParseExtended] may call. It is
// true if the stored value is a String that begins with, ends with or contains the
// literal, by UTF-16 code unit. It is false of an absent property and of a value of
// another type.
type Function uint8

// The functions. NoFunction is that of a comparison.
const (
	NoFunction Function = iota
	StartsWith
	EndsWith
	Contains
)

// functionNamed returns the function with a name, or NoFunction. substringof, the
// name of contains in version 3 of OData, has the literal first.
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

// Of reports whether the function is true of two strings. They are UTF-8, in which a
// character never begins inside another one: bytes agree with UTF-16 code units.
func (f Function) Of(s, part string) bool {
	switch f {
	case StartsWith:
		return strings.HasPrefix(s, part)
	case EndsWith:
		return strings.HasSuffix(s, part)
	}
	return strings.Contains(s, part)
}
