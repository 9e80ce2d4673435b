package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"edgetable/testdata/must"
)

var (
	linked  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	scheme  = regexp.MustCompile(`^[a-z]+:`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

// installCommand matches a command that installs or runs a package or an image of this project. If the machine lacks
// the package or the image, the command downloads it.
var installCommand = regexp.MustCompile(`(?m)(?:(?:docker|podman) run\b.* edgetable|\bedgetable[:_]VERSION|\bnpx (?:--no )?edgetable|\bpipx run edgetable|\bpip install \S*edgetable|\bnpm (?:i|install) .*edgetable|\bdotnet tool install .*edgetable|\bdnx edgetable|\bbrew install .*edgetable|\bapt install .*edgetable)`)

// TestUnpublished checks each page with a command that installCommand matches. The page must say that the project has
// published nothing yet. Otherwise a user might download the package of somebody else who has registered the name.
func TestUnpublished(t *testing.T) {
	t.Parallel()
	n := 0
	eachPage(t, func(path, text string) {
		if found := installCommand.FindString(text); found != "" {
			if n++; !regexp.MustCompile(`(?i)\b(none|no (package|image|package or image)) is published|until a release is published`).MatchString(text) {
				t.Errorf("%s has %q and does not say that none is published", path, found)
			}
		}
	})
	if n < 12 {
		t.Errorf("only %d pages were found", n)
	}
}

// TestLinks checks the links on each page to files and headings of this repository. Each link must have a target.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := 0
	eachPage(t, func(path, text string) {
		pages++
		for _, m := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if broken := brokenLink(path, m[1]); broken != "" {
				t.Errorf("%s: %s: %s", path, m[1], broken)
			}
		}
	})
	if pages < 80 {
		t.Errorf("only %d pages were found", pages)
	}
}

// eachPage passes the path and the text of each page in this repository to the callback.
func eachPage(t *testing.T, read func(path, text string)) {
	t.Helper()
	const root = "../.."
	must.OK(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (slices.Contains([]string{"node_modules", "dist", "bin"}, d.Name()) || strings.HasPrefix(d.Name(), ".") && d.Name() != ".github") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			read(path, string(text))
		}
		return err
	}))
}

// brokenLink returns what is wrong with a link on a page, or "" for a good link. It does not check links to other sites, or
// links to GitHub's pages that show no file of the repository.
func brokenLink(page, link string) string {
	file, anchor, _ := strings.Cut(link, "#")
	target := page
	if file != "" {
		target = filepath.Join(filepath.Dir(page), file)
	}
	if scheme.MatchString(link) || strings.HasPrefix(target, "../../..") {
		return ""
	}
	text, err := os.ReadFile(target)
	if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if anchor == "" || filepath.Ext(target) != ".md" || slices.Contains(anchors(string(text)), anchor) {
		return ""
	}
	return "no heading has this anchor"
}

// anchors returns the anchors that GitHub makes for the headings of a page.
func anchors(text string) (list []string) {
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		title := linked.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), "]")
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return r
			}
			return -1
		}, title)
		if n := seen[name]; n > 0 {
			list = append(list, fmt.Sprintf("%s-%d", name, n))
		} else {
			list = append(list, name)
		}
		seen[name]++
	}
	return list
}
