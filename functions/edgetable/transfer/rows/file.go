package rows

import (
	"fmt"
	"path/filepath"
	"strings"
)

// File is a file of rows.
type File struct {
	Path string `json:"file"` // "-" is standard input
	Size int64  `json:"size"`
	Time int64  `json:"time"` // modification time
	Seed uint64 `json:"-"`    // seed of the UUIDs for rows of standard input
}

// FormatOf returns the format that the name of a file implies, or "".
func FormatOf(path string) string {
	name := strings.ToLower(path)
	for _, ending := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, ending)
	}
	switch filepath.Ext(name) {
	case ".jsonl", ".ndjson", ".json":
		return "jsonl"
	case ".csv":
		return "csv"
	case ".parquet":
		return "parquet"
	}
	return ""
}

// AzuriteName is the name of the file in which Azurite keeps its tables.
const AzuriteName = "__azurite_db_table__.json"

// Where describes the position of a row: the file and the line, or for parquet and
// Azurite's file the number of the row.
func Where(file string, line int) string {
	if FormatOf(file) == "parquet" || filepath.Base(file) == AzuriteName {
		return fmt.Sprintf("%s row %d", file, line)
	}
	return fmt.Sprintf("%s line %d", file, line)
}
