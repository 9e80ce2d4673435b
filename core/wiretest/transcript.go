package wiretest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// Transcript is one file of the corpus.
type Transcript struct {
	Path       string
	Comment    string
	Directives []string // configuration of the server
	Exchanges  []Exchange
}

// Exchange is a request and the expected response, both as text.
type Exchange struct {
	Number   int
	Name     string // name of the exchange, without its number
	Request  string
	Response string
}

// Name returns the name of the file without its extension.
func (t *Transcript) Name() string {
	return strings.TrimSuffix(filepath.Base(t.Path), ".txtar")
}

// Load reads all transcripts from testdata/wire in the module.
func Load() ([]*Transcript, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "testdata", "wire")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil, fmt.Errorf("no testdata/wire above the working directory")
		}
		dir = up
	}
	paths, err := filepath.Glob(filepath.Join(dir, "testdata", "wire", "*.txtar"))
	if err != nil {
		return nil, err
	}
	var list []*Transcript
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		t, err := parse(path, txtar.Parse(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no transcript in %s", dir)
	}
	return list, nil
}

var fileName = regexp.MustCompile(`^(\d\d)-([a-z0-9-]+)\.(request|response)$`)

// parse parses an archive. The files must be pairs with increasing numbers, and each exchange must have an authority.
func parse(path string, a *txtar.Archive) (*Transcript, error) {
	t := &Transcript{Path: path, Comment: string(a.Comment)}
	known, err := authorities(t.Comment)
	if err != nil {
		return nil, err
	}
	for _, m := range directive.FindAllStringSubmatch(t.Comment, -1) {
		t.Directives = append(t.Directives, m[1])
	}
	last := 0
	for i := 0; i < len(a.Files); i++ {
		m := fileName.FindStringSubmatch(a.Files[i].Name)
		if m == nil || m[3] != "request" {
			return nil, fmt.Errorf("%s: want NN-name.request", a.Files[i].Name)
		}
		n, _ := strconv.Atoi(m[1])
		if n <= last {
			return nil, fmt.Errorf("%s: numbers must rise", a.Files[i].Name)
		}
		if !known[n] {
			return nil, fmt.Errorf("%s: the comment does not say by what authority its answer is right", a.Files[i].Name)
		}
		last = n
		e := Exchange{Number: n, Name: m[2], Request: string(a.Files[i].Data)}
		if i+1 < len(a.Files) && a.Files[i+1].Name == m[1]+"-"+m[2]+".response" {
			i++
			e.Response = string(a.Files[i].Data)
		}
		t.Exchanges = append(t.Exchanges, e)
	}
	if last == 0 {
		return nil, fmt.Errorf("no exchange")
	}
	return t, nil
}

var authority = regexp.MustCompile(`(?m)^(\d\d)(?:-(\d\d))?: (recorded from the service(?:, \d{4}[-0-9]*(?: at \d{4}-\d\d-\d\d)?: .+)?|documentation|clients|emulator|users(?:: .+)?|choice: .+)$`)

var directive = regexp.MustCompile(`(?m)^server: (.+)$`)

// authorities returns the numbers of the exchanges that have an authority: a line that names the evidence for the
// response.
func authorities(comment string) (map[int]bool, error) {
	known := make(map[int]bool)
	for _, m := range authority.FindAllStringSubmatch(comment, -1) {
		first, _ := strconv.Atoi(m[1])
		last := first
		if m[2] != "" {
			last, _ = strconv.Atoi(m[2])
		}
		for n := first; n <= last; n++ {
			if known[n] {
				return nil, fmt.Errorf("exchange %02d has two authorities", n)
			}
			known[n] = true
		}
	}
	return known, nil
}

func (t *Transcript) save() error {
	a := &txtar.Archive{Comment: []byte(t.Comment)}
	for _, e := range t.Exchanges {
		name := fmt.Sprintf("%02d-%s.", e.Number, e.Name)
		a.Files = append(a.Files,
			txtar.File{Name: name + "request", Data: []byte(e.Request)},
			txtar.File{Name: name + "response", Data: []byte(e.Response)})
	}
	return os.WriteFile(t.Path, txtar.Format(a), 0o666)
}

// lines converts a text of an archive to the bytes on the wire.
func lines(text string) string {
	if !strings.HasSuffix(text, "⏎\n") {
		text = strings.TrimSuffix(text, "\n")
	}
	return marks.Replace(text)
}

// These characters stand for bytes that would be invisible or hard to read in a transcript.
const (
	byteOrderMark = "\ufeff"
	bomMark       = "⟨BOM⟩"
	goesOn        = "¬\n"
)

var marks = strings.NewReplacer("⏎\n", "\r\n", goesOn, "", bomMark, byteOrderMark)

// element matches a point at which XML may be broken into lines: between the end of one element and the start of the
// next.
var element = regexp.MustCompile(`(</[^<>]*>|/>|\?>)(<[^/])`)

// unlines converts the bytes on the wire to a text of an archive. It is the inverse of lines.
func unlines(wire string) string {
	if wire == "" {
		return ""
	}
	text := strings.ReplaceAll(strings.ReplaceAll(wire, "\r\n", "⏎\n"), byteOrderMark, bomMark)
	if strings.Contains(text, "<?xml") {
		text = element.ReplaceAllString(text, "$1"+goesOn+"$2")
	}
	if !strings.HasSuffix(text, "⏎\n") {
		text += "\n"
	}
	return text
}
