// Package optionsdoc describes the members of an options document, the JSON document with the options of a table. It
// generates a JSON schema for editors and the tables in docs/options.md. A test compares the schema with the parser
// [payload.ReadOptions], which is authoritative. To describe a new member, add a row to [document].
package optionsdoc
