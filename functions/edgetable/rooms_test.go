package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// TestRoomOfFlag checks that the package of a command defines the flags of the command. Another
// package may define a flag if its row in docs/architecture.md says so. The row then contains the
// flag, as in `--name`, or a prefix of several flags, as in `--begin-*`. Package edgetable itself
// defines the flags that all commands have.
func TestRoomOfFlag(t *testing.T) {
	t.Parallel()
	named, rooms := map[string]string{}, map[string]string{} // the map named has the packages of flags, the map rooms has the packages of commands
	for line := range strings.Lines(mapOfRooms(t)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		room := strings.Trim(cells[1], " `")
		for i, name := range strings.Split(cells[3], "`") {
			if flag, ok := strings.CutPrefix(name, "--"); i%2 == 1 && ok {
				if named[flag] != "" {
					t.Errorf("the map has --%s in %s and in %s", flag, named[flag], room)
				}
				named[flag] = room
			}
		}
		list, _, _ := strings.Cut(cells[2], ";")
		for i, name := range strings.Split(list, "`") {
			if i%2 == 1 {
				rooms[name] = room
			}
		}
	}
	registers := regexp.MustCompile(`(?:\w+Flag|Var|VarP|String)\([^"\n]*"([a-z-]+)"`)
	flagsOf := map[string]map[string]bool{} // flags by package
	has := func(room, flag string) bool {
		if flagsOf[room] == nil {
			flagsOf[room] = map[string]bool{}
			files, err := filepath.Glob(filepath.Join(room, "*.go"))
			must.OK(t, err)
			for _, file := range files {
				text, err := os.ReadFile(file)
				must.OK(t, err)
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				for _, m := range registers.FindAllStringSubmatch(string(text), -1) {
					flagsOf[room][m[1]] = true
				}
			}
		}
		return flagsOf[room][flag]
	}
	used := map[string]bool{}
	for _, c := range commands((&program{Terminal: new(cli.Terminal)}).root()) {
		words := strings.Fields(c.CommandPath())
		_, flags := cli.Sections(c)
		for _, set := range flags {
			set.VisitAll(func(f *pflag.Flag) {
				if f.Name == "help" || f.Name == "help-all" || has(".", f.Name) || len(words) > 1 && has(rooms[words[1]], f.Name) {
					return
				}
				for name, room := range named {
					begin, several := strings.CutSuffix(name, "*")
					if (f.Name == name || several && strings.HasPrefix(f.Name, begin)) && has(room, f.Name) {
						used[name] = true
						return
					}
				}
				t.Errorf("no row of the map leads from --%s of '%s' to its code", f.Name, c.CommandPath())
			})
		}
	}
	for name, room := range named {
		if !used[name] {
			t.Errorf("the row of %s has --%s, which leads nowhere, or is in the room of its command", room, name)
		}
	}
}
