// Package edm holds the eight primitive types of the Entity Data Model that an
// entity's properties may have, their exact ranges and canonical text, and the
// encoded property list in which the stores keep an entity.
//
// A [Value] is one typed value. [Properties] is an ordered list of named values
// in one byte slice: the server decodes a request body into it, a store keeps
// it, a filter reads it in place, and the server writes a response from it, so
// that an entity is never a map.
//
//	p := edm.AppendProperty(nil, "Age", edm.Int32(23))
//	for name, v := range p.All() { … }
//
// The package does not know entities: package table has the limits of names,
// sizes and counts.
package edm
