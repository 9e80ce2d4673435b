package rows

import (
	"fmt"
	"path/filepath"
	"strings"
)

// File is a file of rows.
type File struct {
	Path string `json:"file"` // path of the file; "-" means standard input
	Size int64  `json:"size"`
	Time int64  `json:"time"` // modification time in Unix nanoseconds
	Seed uint64 `json:"-"`    // random number for the UUIDs of rows from standard input
}

// FormatOf returns the format that the extension of a file name indicates, or "".
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

// AzuriteName is the name of the file in which Azurite stores its tables.
const AzuriteName = "__azurite_db_table__.json"

// Where returns the position of a row for messages. For most formats, this is the file and the line number; for parquet
// and Azurite files, it is the file and the row number.
func Where(file string, line int) string {
	if FormatOf(file) == "parquet" || filepath.Base(file) == AzuriteName {
		return fmt.Sprintf("%s row %d", file, line)
	}
	return fmt.Sprintf("%s line %d", file, line)
}
