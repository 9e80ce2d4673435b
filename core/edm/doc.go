// Package edm holds the eight primitive types of the Entity Data Model that an
// entity's properties may have, their exact ranges and canonical text, and the
// encoded property list in which the stores keep an entity.
//
// A [Value] is one typed value. [Properties] is an ordered list of named values
// in one byte slice: a request body is decoded straight into it, a store keeps
// it, a filter reads it in place and a response is written from it, so that an
// entity is never a map on its way through the server.
//
//	p := edm.AppendProperty(nil, "Age", edm.Int32(23))
//	for name, v := range p.All() { … }
//
// The package knows nothing of entities: limits of names, sizes and counts are
// the table package's.
package edm
