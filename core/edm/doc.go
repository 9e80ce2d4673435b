// Package edm implements the eight primitive types of the Entity Data Model with their exact ranges and canonical text.
// It also implements the encoded property list, which is the stored form of an entity.
//
// A [Value] is one typed value. [Properties] is an ordered list of named values in a single byte slice. Request bodies
// are decoded into it, stores hold it, filters read it in place, and responses are written from it. An entity is never
// converted to a map.
//
//	p := edm.AppendProperty(nil, "Age", edm.Int32(23))
//	for name, v := range p.All() { … }
//
// The limits on names, sizes and counts are enforced by package table.
package edm
