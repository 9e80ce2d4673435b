package rows

import (
	"errors"
	"strings"

	"edgetable/core/key"
	"edgetable/core/table"
)

// keyFlags has the flags of import that make a key from columns.
var keyFlags = map[string]string{PartitionKey: "--partition-key", RowKey: "--row-key"}

// adviceByCode has a sentence that says what to change in a row, for some error codes of the
// protocol.
var adviceByCode = map[table.Code]string{
	table.PropertyNameInvalid:   "Use letters, digits and _, and no digit first.",
	table.PropertyValueTooLarge: "Shorten it, or leave the column out with --select.",
	table.TooManyProperties:     "Choose fewer columns with --select.",
	table.EntityTooLarge:        "Leave columns out with --select.",
}

// generic contains a sentence of some error messages. The sentence says nothing about the row.
const generic = "An error occurred while processing this request. "

// explain returns the reason why a row is refused. The reason has the error of the protocol with
// its code. For some codes, it also says what to change.
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
