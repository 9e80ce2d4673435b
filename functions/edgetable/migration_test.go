package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgetable/testdata/must"
)

// TestMigrationTimes computes the durations in docs/migrate-from-azure.md from the rates on the same page. With
// -update it writes the durations.
func TestMigrationTimes(t *testing.T) {
	t.Parallel()
	const file = "../../docs/migrate-from-azure.md"
	text, err := os.ReadFile(file)
	must.OK(t, err)
	page := string(text)
	for _, work := range []string{"copy", "import", "verify"} {
		found := regexp.MustCompile(work + ` ([\d,]+) rows/s`).FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("%s has no rate of %s", file, work)
		}
		rate, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
		must.OK(t, err)
		row := fmt.Sprintf("| `%s`: entities / %s |", work, found[1])
		for _, gigabytes := range []float64{1, 100, 1000} {
			row += " " + roughly(time.Duration(gigabytes*1e9/1024/float64(rate)*1e9)) + " |"
		}
		line := regexp.MustCompile("(?m)^\\| `" + work + "`: .*$")
		if got := line.FindString(page); got != row {
			t.Errorf("%s has\n%s\nnot\n%s", file, got, row)
			page = line.ReplaceAllLiteralString(page, row)
		}
	}
	if *update && page != string(text) {
		must.OK(t, os.WriteFile(file, []byte(page), 0o666))
	}
}

func roughly(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
