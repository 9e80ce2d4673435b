// Package optionsdoc describes the members of an options document, which has the options of a table in JSON. To
// describe a new member, add a row to [document].
package optionsdoc
