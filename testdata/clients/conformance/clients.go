package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Client describes the client that a suite tests with. Each suite has a column in the document.
type Client struct {
	Suite   string
	Title   string
	Version string // empty if the tests use no library, but a client of their own
}

// readClients reads the file clients.txt. Bars separate the columns of a line. The columns are a suite, a title, and
// optionally a file and the client's name in the file. The path of the file is relative to the argument folder. The
// client's version is the first version after its name in the file. If a suite has several clients, commas separate
// the names.
func readClients(folder string) ([]Client, error) {
	path := filepath.Join(folder, "conformance", "clients.txt")
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var clients []Client
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		switch len(fields) {
		case 2:
			clients = append(clients, Client{Suite: fields[0], Title: fields[1]})
		case 4:
			var versions []string
			for name := range strings.SplitSeq(fields[3], ", ") {
				version, err := versionIn(filepath.Join(folder, fields[2]), name)
				if err != nil {
					return nil, err
				}
				versions = append(versions, version)
			}
			clients = append(clients, Client{fields[0], fields[1], strings.Join(versions, ", ")})
		default:
			return nil, fmt.Errorf("%s:%d: %d fields, not 2 or 4", path, number, len(fields))
		}
	}
	return clients, lines.Err()
}

// versionIn finds "name 1.2.3" in any build file. Between name and version there may be XML tags, punctuation, or the
// word version.
func versionIn(path, name string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	pin := regexp.MustCompile(regexp.QuoteMeta(name) + `(?:</[A-Za-z]+>|<[A-Za-z]+>|[\s"'=:~^{]|version)+v?([0-9]+(?:\.[0-9A-Za-z-]+)+)`)
	found := pin.FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s: no version of %s", path, name)
	}
	return string(found[1]), nil
}

// complete returns an error if a suite that was not left out has no results, or if there are results of a suite that
// is not in clients.txt.
func complete(clients []Client, results map[string]Counts, without []string) error {
	for _, c := range clients {
		if results[c.Suite] == nil && !slices.Contains(without, c.Suite) {
			return fmt.Errorf("suite %s left no results", c.Suite)
		}
	}
	for suite := range results {
		if !slices.ContainsFunc(clients, func(c Client) bool { return c.Suite == suite }) {
			return fmt.Errorf("suite %s is not in clients.txt", suite)
		}
	}
	return nil
}
