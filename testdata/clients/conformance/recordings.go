package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Recording describes the newest recording of one answer of Azure to an operation. The answer of
// edgetable was compared with it.
type Recording struct {
	Operation, Status, Code, Date, Version, Request, SDK string
}

// readRecordings reads recordings.txt of the wire corpus, newest first.
func readRecordings(path string) ([]Recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []Recording
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		f := strings.Fields(lines.Text())
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != 7 {
			return nil, fmt.Errorf("%s:%d: %d fields, not 7", path, number, len(f))
		}
		for i := range f {
			f[i] = strings.TrimPrefix(f[i], "-") // a minus sign stands for an unknown field
		}
		list = append(list, Recording{f[0], f[1], f[2], f[3], f[4], f[5], f[6]})
	}
	slices.SortStableFunc(list, func(a, b Recording) int { return cmp.Compare(b.Date, a.Date) })
	return list, lines.Err()
}

// writeRecordings writes the section about the age of the recordings.
func writeRecordings(out *bufio.Writer, list []Recording) {
	out.WriteString(recordingsHead)
	for _, r := range list {
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", r.Operation, strings.TrimSpace(r.Status+" "+r.Code), r.Date, r.Version, r.Request, r.SDK)
	}
}

const recordingsHead = `
## How old the recordings are

The answers of edgetable were compared with recordings of Azure's service. For each operation and answer, this table shows the newest of these
recordings: its date, its ` + "`x-ms-version`" + `, and the service's request id, if the recorder kept it. Rows without a date are from before 2023; their
recordings were not kept.

The transcripts in testdata/wire say for each exchange whether it was recorded.
[compatibility.md](compatibility.md#chosen-where-the-service-is-unknown) lists what no recording shows.

| Operation | Answer | Date | x-ms-version | Request id | SDK |
|---|---|---|---|---|---|
`
