// Package optionsdoc describes the members of an options document: as a JSON schema for editors, and as tables for
// docs/options.md. A test compares it with the parser, [payload.ReadOptions], which is authoritative. To describe a
// new member, add a row to [document].
package optionsdoc
