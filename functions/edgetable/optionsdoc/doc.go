// Package optionsdoc describes the members of an options document: the JSON document with which a user sets the
// options of a table. From this description it makes a JSON schema for editors, and tables for docs/options.md. A
// test compares the schema with the parser [payload.ReadOptions]; if they differ, the parser is right. To describe
// a new member, add a row to [document].
package optionsdoc
