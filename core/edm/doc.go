// Package edm implements the eight primitive types of the Entity Data Model that properties may have, with their
// exact ranges and canonical text, and the encoded property list in which stores keep an entity.
//
// A [Value] is one typed value. [Properties] is an ordered list of named values in a single byte slice. The server
// decodes a request body into it, stores keep it, filters read it in place, and responses are written from it. No
// entity ever becomes a map.
//
//	p := edm.AppendProperty(nil, "Age", edm.Int32(23))
//	for name, v := range p.All() { … }
//
// The package knows nothing about entities; package table enforces the limits on names, sizes and counts.
package edm
