package xml

// Representable reports whether XML can represent all of s.
func Representable(s string) bool { return legal(s) == len(s) }
