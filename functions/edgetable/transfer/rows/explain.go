package rows

import (
	"errors"
	"strings"

	"edgetable/core/key"
	"edgetable/core/table"
)

// keyFlags are the flags of import that make a key from columns.
var keyFlags = map[string]string{PartitionKey: "--partition-key", RowKey: "--row-key"}

// changes has, for some errors of the protocol, a sentence that says what to change in the row.
var adviceByCode = map[table.Code]string{
	table.PropertyNameInvalid:   "Use letters, digits and _, and no digit first.",
	table.PropertyValueTooLarge: "Shorten it, or leave the column out with --select.",
	table.TooManyProperties:     "Choose fewer columns with --select.",
	table.EntityTooLarge:        "Leave columns out with --select.",
}

// generic is a sentence of some errors of the protocol that says nothing about the row.
const generic = "An error occurred while processing this request. "

// explain returns the reason why a row is refused: the error with its code in the protocol, and
// what to change.
func explain(err error) string {
	text := strings.Replace(err.Error(), generic, "", 1)
	if refused, ok := errors.AsType[*table.Error](err); ok && adviceByCode[refused.Code] != "" {
		return text + " " + adviceByCode[refused.Code]
	}
	if errors.Is(err, key.ErrCharacter) {
		return text + ": change it in the file, or build the key from other columns"
	}
	return text
}
