package transfer

import (
	"regexp"
	"strings"
)

// named returns the table for the rows of a file. This is tableName; if it is "", it is the table that the file name
// indicates.
func named(tableName, file string) string {
	if tableName != "" {
		return tableName
	}
	if name := azcopyTable(file); name != "" {
		return name
	}
	name, _, _ := strings.Cut(file, ".")
	return name
}

// azcopyTable returns the table in the name of an AzCopy data file, or "" for other names.
func azcopyTable(file string) string {
	if m := azcopyPart.FindStringSubmatch(file); m != nil {
		return m[1]
	}
	return ""
}

// azcopyPart matches the names of AzCopy's data files.
var azcopyPart = regexp.MustCompile(`^(?:[a-z0-9]{3,24}_([A-Za-z][A-Za-z0-9]{2,62})(?:_[0-9]{8}T[0-9.]+Z?)?|(.+))_[0-9]+_[0-9]+_[0-9A-Fa-f]{8,16}\.(?:json|csv)$`)
