package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// configLine is the value of a flag in the configuration file and its line number.
type configLine struct {
	number int
	value  string
}

// readConfig reads a configuration file. A line has the form name = value, or is a comment that begins with #. A flag
// with several values may have several lines.
func readConfig(file string, known map[string]bool) (map[string][]configLine, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer f.Close()
	lines, scanner := map[string][]configLine{}, bufio.NewScanner(f)
	for number := 1; scanner.Scan(); number++ {
		text := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\ufeff"))
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || !known[name] {
			return nil, Misuse("%s line %d: %q is not a flag: write name = value, as 'edgetable serve --help-all' lists them, without dashes", file, number, name)
		}
		lines[name] = append(lines[name], configLine{number, strings.TrimSpace(value)})
	}
	return lines, scanner.Err()
}
