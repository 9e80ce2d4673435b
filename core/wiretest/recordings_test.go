package wiretest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	partStatus = regexp.MustCompile(`(?m)^HTTP/1\.1 (\d{3})`)
	anyCode    = regexp.MustCompile(`"code":"(\w+)"|<(?:m:)?code>(\w+)</`)
)

// TestRecordings compares the file recordings.txt with the transcripts of the corpus. A transcript says which of its
// errors were recorded from the service. For each such error, the file must have a row with the same status and code.
// For each row of the file, a transcript must have a response with the same status and code.
func TestRecordings(t *testing.T) {
	t.Parallel()
	list, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(list[0].Path), "recordings.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rows, used := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != 7 || !regexp.MustCompile(`^(-|20\d\d(-\d\d){0,2})$`).MatchString(f[3]) {
			t.Errorf("want operation, status, code, date, x-ms-version, request id, SDK: %s", line)
			continue
		}
		rows[f[1]+" "+strings.TrimPrefix(f[2], "-")] = true
	}
	for _, tr := range list {
		recorded := recordedIn(tr.Comment)
		for i := range tr.Exchanges {
			e := &tr.Exchanges[i]
			answer := answered(e.Response)
			used[answer] = true
			if recorded[e.Number] && !rows[answer] {
				t.Errorf("%s %02d-%s: recordings.txt has no row for %s", tr.Name(), e.Number, e.Name, answer)
			}
		}
	}
	for row := range rows {
		if !used[row] {
			t.Errorf("no transcript has the answer %s of recordings.txt", row)
		}
	}
}

// answered returns the status and the error code of a response. For a failed batch, the status is that of its last
// part.
func answered(response string) string {
	all := partStatus.FindAllStringSubmatch(response, -1)
	status, code := all[0][1], ""
	if m := anyCode.FindStringSubmatch(response); m != nil && (status >= "400" || status == "202") {
		status, code = all[len(all)-1][1], m[1]+m[2]
	}
	return status + " " + code
}

// recordedIn returns the numbers of the exchanges that were recorded from the service.
func recordedIn(comment string) map[int]bool {
	var lines []string
	for _, m := range authority.FindAllString(comment, -1) {
		if strings.Contains(m, ": recorded from the service") {
			lines = append(lines, m)
		}
	}
	known, _ := authorities(strings.Join(lines, "\n"))
	return known
}
