package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// A script is a text of commands. The commands write to a store, inject faults of the store's platform, and name the
// answers that the store must give:
//
//	## The reply to an insert is lost, and the object restarts
//	create
//	next lose-reply, evict
//	insert r A → Unknown
//	read r → A
//
// Each line is a command and its expected outcome. Without an outcome, "ok" is expected. The word "or" separates
// several permitted outcomes. The commands of every platform are
//
//	create, drop              the table; drop deletes the table of the last create
//	read-record, rewrite      the table's record; rewrite writes the record with the revision from the last create
//	list                      → the number of tables
//	insert, put ROW,… TEXT    entities, in one batch; put replaces
//	delete ROW,…
//	read ROW                  → its text
//	count                     → the number of entities
//
// If a command fails, its outcome is the name of the error in package table without Err, the code of a [table.Error],
// or the text of the error. The Timestamp of each write must be higher than the previous one. A [Stage] adds commands,
// most of which inject faults. Lines that begin with a tab are an argument of the command above them. After "for $N in
// 1 2 3", the lines below are played with each value in place of $N. "each $A | $B" is followed by a table; the lines
// below the table are played for each row. Text after " # " is a comment.

// Stage contains the store and the platform's commands for a script.
type Stage struct {
	testing.TB
	Store   table.Store
	Context context.Context // context of the calls, or nil for the context of the test
	// Commands contains the commands of the platform by name. A command returns its outcome. The parameter block
	// contains the indented lines below the command.
	Commands map[string]func(args, block []string) string

	revision table.Revision
	lives    byte
	last     edm.Ticks
}

var scriptName = table.RecordKey{Account: "acct", Table: "people"}

// PlayFile plays all scripts of a file, each with a new Stage.
func PlayFile(t *testing.T, file string, stage func(t *testing.T) *Stage) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range strings.Split(string(text), "\n## ")[1:] {
		title, text, _ := strings.Cut(script, "\n")
		playEach(t, title, text, stage)
	}
}

// playEach plays a script once for each value in its "for" lines, and for each row of its table.
func playEach(t *testing.T, title, text string, stage func(t *testing.T) *Stage) {
	head, rest, _ := strings.Cut(text, "\n")
	if loop, ok := strings.CutPrefix(head, "for "); ok {
		name, values, _ := strings.Cut(loop, " in ")
		for _, v := range strings.Fields(values) {
			playEach(t, title+" "+v, strings.ReplaceAll(rest, name, v), stage)
		}
		return
	}
	if columns, ok := strings.CutPrefix(head, "each "); ok {
		names, lines := strings.Split(columns, " | "), strings.Split(rest, "\n")
		n := blockOf(lines)
		script := strings.Join(lines[n:], "\n")
		for _, row := range lines[:n] {
			play := script
			for i, v := range strings.Split(withoutComment(row), "|") {
				play = strings.ReplaceAll(play, names[i], strings.TrimSpace(v))
			}
			playEach(t, title+" "+strings.TrimSpace(row), play, stage)
		}
		return
	}
	t.Run(title, func(t *testing.T) {
		s := stage(t)
		s.TB = t
		s.Play(strings.Split(text, "\n"))
	})
}

// blockOf returns the number of lines at the start that begin with a tab.
func blockOf(lines []string) int {
	return max(0, slices.IndexFunc(append(lines, ""), func(l string) bool { return !strings.HasPrefix(l, "\t") }))
}

func withoutComment(line string) string {
	line, _, _ = strings.Cut(line, " # ")
	return line
}

// Play plays the lines of a script. It stops the test at the first unexpected outcome.
func (s *Stage) Play(lines []string) {
	s.Helper()
	for len(lines) > 0 {
		line := withoutComment(lines[0])
		n := 1 + blockOf(lines[1:])
		block := slices.Clone(lines[1:n])
		for i := range block {
			block[i] = block[i][1:]
		}
		lines = lines[n:]
		command, want, said := strings.Cut(line, "→")
		command, want = strings.TrimSpace(command), strings.TrimSpace(want)
		if command == "" || strings.HasPrefix(command, "#") {
			continue
		}
		if !said {
			want = "ok"
		}
		if got := s.Do(strings.Fields(command), block); !slices.Contains(strings.Split(want, " or "), got) {
			s.Fatalf("%s → %s, want %s", command, got, want)
		}
	}
}

// Do executes a command and returns its outcome.
func (s *Stage) Do(words, block []string) string {
	ctx := s.Context
	if ctx == nil {
		ctx = s.TB.Context()
	}
	words = append(words, "", "")
	switch verb, rows, text := words[0], strings.Split(words[1], ","), words[2]; verb {
	case "create":
		s.lives++
		r, err := s.Store.WriteRecord(ctx, table.Record{Key: scriptName, Incarnation: table.Incarnation{11: s.lives}})
		if err == nil {
			s.revision = r
		}
		return Outcome(err)
	case "drop":
		return Outcome(s.Store.Drop(ctx, scriptName, s.revision))
	case "read-record":
		_, err := s.Store.ReadRecord(ctx, scriptName, table.Strong)
		return Outcome(err)
	case "rewrite":
		_, err := s.Store.WriteRecord(ctx, table.Record{Key: scriptName, Revision: s.revision, Incarnation: table.Incarnation{11: s.lives}})
		return Outcome(err)
	case "list":
		list, err := s.Store.ListRecords(ctx, scriptName.Account, "", 10, table.Strong)
		return outcomeOf(len(list), err)
	case "insert":
		return s.commit(ctx, rows, table.Mutation{Condition: table.Absent, Properties: edm.AppendProperty(nil, "v", edm.String(text))})
	case "put":
		return s.commit(ctx, rows, table.Mutation{Properties: edm.AppendProperty(nil, "v", edm.String(text))})
	case "delete":
		return s.commit(ctx, rows, table.Mutation{Kind: table.Delete, Condition: table.Present})
	case "read":
		row, err := s.Store.Get(ctx, scriptName, key.Append(nil, "p", rows[0]), table.Strong)
		v, _ := row.Properties.Lookup("v")
		return outcomeOf(v.Text(), err)
	case "count":
		page, err := s.Store.Scan(ctx, scriptName, table.ScanRequest{Ranges: []key.Range{{}}})
		return outcomeOf(len(page.Rows), err)
	default:
		do := s.Commands[verb]
		if do == nil {
			s.Fatalf("%s: no such command", verb)
		}
		return do(words[1:len(words)-2], block)
	}
}

func (s *Stage) commit(ctx context.Context, rows []string, m table.Mutation) string {
	list := make([]table.Mutation, len(rows))
	for i, row := range rows {
		m.Key, m.Nonce = key.Append(nil, "p", row), uint64(i)+1
		list[i] = m
	}
	ticks, err := s.Store.Commit(ctx, scriptName, list)
	switch {
	case err == nil && ticks <= s.last:
		return fmt.Sprintf("Timestamp %d after %d", ticks, s.last)
	case err == nil:
		s.last = ticks
	}
	return Outcome(err)
}

func outcomeOf(got any, err error) string {
	if err != nil {
		return Outcome(err)
	}
	return fmt.Sprint(got)
}

// Outcome returns the word that scripts use for an error, or "ok" for nil.
func Outcome(err error) string {
	if err == nil {
		return "ok"
	}
	for word, e := range map[string]error{
		"Busy": table.ErrBusy, "Unknown": table.ErrUnknown, "NoTable": table.ErrNoTable, "NoEntity": table.ErrNoEntity,
		"NoRecord": table.ErrNoRecord, "Revision": table.ErrRevision, "BeingDeleted": table.ErrBeingDeleted,
		"Exists": table.ErrExists, "Changed": table.ErrChanged, "DeadlineExceeded": context.DeadlineExceeded,
	} {
		if errors.Is(err, e) {
			return word
		}
	}
	if e, ok := errors.AsType[*table.Error](err); ok {
		return string(e.Code)
	}
	return err.Error()
}

// Fates says what happens to each of the next messages, for example "lost". Commas separate the messages. "ok*3"
// applies to three messages, and an item before "…" to all later ones.
type Fates struct {
	list    [][]string
	forever bool
}

// ParseFates parses the argument of a command, see [Fates].
func ParseFates(args []string) (f Fates) {
	text := strings.Join(args, " ")
	text, f.forever = strings.CutSuffix(text, "…")
	for _, item := range strings.Split(text, ",") {
		item, times, many := strings.Cut(item, "*")
		n, err := strconv.Atoi(times)
		if !many || err != nil {
			n = 1
		}
		f.list = append(f.list, slices.Repeat([][]string{strings.Fields(item)}, n)...)
	}
	return f
}

// All returns the words for each message.
func (f *Fates) All() [][]string { return f.list }

// Next returns the words for the next message, or nil if none are left.
func (f *Fates) Next() (words []string) {
	if len(f.list) == 0 {
		return nil
	}
	words = f.list[0]
	if len(f.list) > 1 || !f.forever {
		f.list = f.list[1:]
	}
	return words
}
