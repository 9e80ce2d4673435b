// Package optionsdoc says which members a document of options has: for editors as a JSON schema, and for docs/options.md as
// tables. Its test compares it with [payload.ReadOptions], which is what counts.
//
// A new part of the document is a row in [document].
package optionsdoc
