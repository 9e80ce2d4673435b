package export

import (
	"encoding/json"

	"edgetable/functions/edgetable/transfer/csvfile"
	"edgetable/functions/edgetable/transfer/parquetfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// Command specifies an export. A run resumes an earlier run that had the same command.
type Command struct {
	Tables   []string `json:"tables,omitempty"` // tables to export; nil means all tables of the account
	Source   string   `json:"source"`           // URL of the account
	Filter   string   `json:"filter,omitempty"`
	Select   []string `json:"select,omitempty"`
	Format   string   `json:"format"`   // jsonl, csv, csv-plain or parquet
	Compress string   `json:"compress"` // none, gzip or zstd
	Excel    bool     `json:"excel,omitempty"`
}

func (c *Command) String() string {
	text, _ := json.Marshal(c) // this cannot fail, because all fields are strings, lists of strings or booleans
	return string(text)
}

// sheet returns a new sheet of the format, or nil for JSON lines.
func (c *Command) sheet() rows.Sheet {
	switch c.Format {
	case "jsonl":
		return nil
	case "parquet":
		return parquetfile.NewSheet(c.Compress)
	}
	return csvfile.NewSheet(c.Format == "csv", c.Excel, c.Compress, c.Select)
}

func (c *Command) ending() string {
	switch c.Format {
	case "jsonl":
		return ".jsonl" + rows.Endings[c.Compress]
	case "parquet": // parquet compresses within the file, so the extension does not name the compression
		return ".parquet"
	}
	return ".csv" + rows.Endings[c.Compress]
}

// exportRecord is the JSON document that marks an unfinished export in its destination.
type exportRecord struct {
	Command Command  `json:"command"`
	Number  int      `json:"number"` // number that distinguishes the export from earlier exports to the destination; file names contain it
	Tables  []string `json:"tables"`
	Owner   string   `json:"owner"` // random id of the process that may write objects of the export
}
