package account

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"edgetable/adapters/objects/directory"
	"edgetable/core/accounts"
	"edgetable/functions/edgetable/cli"
)

// file is an accounts file. It is edited line by line to preserve comments and the order of accounts.
type file struct {
	path  string
	lines []string // lines of the file, including their line ends
	list  accounts.List
	mode  fs.FileMode
}

// openFile reads an accounts file. The file may be missing.
func openFile(path string) (*file, error) {
	f := &file{path: path, list: accounts.List{}, mode: 0o600}
	text, err := cli.ReadPrivate(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(f.path); err == nil {
		f.mode = info.Mode().Perm()
	}
	if f.list, err = accounts.Parse(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.lines = slices.Collect(strings.Lines(text))
	return f, nil
}

// find returns an account's entry and the index of its line.
func (f *file) find(name string) (int, accounts.Entry, error) {
	for i, line := range f.lines {
		if e, ok := accounts.ParseEntry(line); ok && e.Name == name {
			return i, e, nil
		}
	}
	if f.list[name] != nil {
		return 0, accounts.Entry{}, fmt.Errorf("%s has %s on a line with other accounts: write each on a separate line", f.path, name)
	}
	return 0, accounts.Entry{}, fmt.Errorf("%s has no account %s", f.path, name)
}

func (f *file) add(e accounts.Entry) {
	if n := len(f.lines); n > 0 && !strings.HasSuffix(f.lines[n-1], "\n") {
		f.lines[n-1] += "\n"
	}
	f.lines = append(f.lines, e.String()+"\n")
}

// save replaces the file atomically and preserves its owner.
func (f *file) save() error {
	text := strings.Join(f.lines, "")
	list, err := accounts.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if len(list) == 0 {
		return errors.New("a server needs at least one account: disable the last account instead, or create another account first")
	}
	return directory.Replace(f.path, []byte(text), f.mode) // Replace syncs the file, so a removed key cannot reappear after a power failure
}

func newKey() string {
	var secret [accounts.LeastKey]byte
	_, _ = rand.Read(secret[:]) // rand.Read never fails
	return base64.StdEncoding.EncodeToString(secret[:])
}
