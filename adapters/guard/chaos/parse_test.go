package chaos_test

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/guard/chaos"
	"edgetable/core/protocol"
)

const ms = time.Millisecond

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why, spec string
		want      []chaos.Rule
	}{
		{"nothing", "", nil},
		{"blanks, comments and empty rules are nothing", " ; # fault=503\n\t;;\r\n# all", nil},
		{"one fault for everything", "fault=503", []chaos.Rule{{Fault: chaos.ServerBusy}}},
		{"every word", "account=a operation=InsertEntity table=orders partition=p1 probability=0.5 seed=7 count=2 latency=1s fault=lost-reply",
			[]chaos.Rule{{Account: "a", Operations: []string{"InsertEntity"}, Table: "orders", Partition: "p1",
				Probability: 0.5, Seed: 7, Count: 2, Latency: [2]time.Duration{time.Second, time.Second}, Fault: chaos.LostReply}}},
		{"several rules", "every=3 fault=reset; latency=50ms-500ms\nbeing-deleted=30s table=o*", []chaos.Rule{
			{Every: 3, Fault: chaos.Reset}, {Latency: [2]time.Duration{50 * ms, 500 * ms}}, {BeingDeleted: 30 * time.Second, Table: "o*"}}},
		{"faults by the names of their codes", "fault=InternalError;fault=ServerBusy", []chaos.Rule{{Fault: chaos.InternalError}, {Fault: chaos.ServerBusy}}},
		{"operations in any case, patterns and classes", "operation=read,deleteentity,*Table* fault=500",
			[]chaos.Rule{{Operations: []string{"read", "DeleteEntity", "*Table*"}, Fault: chaos.InternalError}}},
		{"a value with anything in it", `partition="a b;#=\"" fault=500 # why`, []chaos.Rule{{Partition: `a b;#="`, Fault: chaos.InternalError}}},
		{"a comment behind a value", "fault=500#why", []chaos.Rule{{Fault: chaos.InternalError}}},
		{"a value may have an equals sign", "partition=a=b fault=500", []chaos.Rule{{Partition: "a=b", Fault: chaos.InternalError}}},
	} {
		got, err := chaos.Parse(tt.spec)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %s: got %+v, %v", tt.why, tt.spec, got, err)
		}
	}
}

// TestParseErrors checks that an error names the wrong word and the words that are allowed instead.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why, spec string
		want      []string // parts of the error's text
	}{
		{"a key that is none", "operaton=read fault=500", []string{"operaton", "operation,", "being-deleted"}},
		{"no value", "fault= operation=read", []string{"fault= has no value"}},
		{"an empty string", `partition="" fault=500`, []string{"partition= has no value"}},
		{"no equals sign", "fault=500 InsertEntity", []string{`"InsertEntity"`, "key=value", "operation"}},
		{"no equals sign before another word", "read fault=500", []string{`"read"`, "key=value"}},
		{"a string alone", `"fault=500"`, []string{"key=value"}},
		{"a string without an end", `partition="a fault=500`, []string{"partition", "no closing quote"}},
		{"an operation that is none", "operation=Insert fault=500", []string{`"Insert"`, "InsertEntity", "read", "*Entity"}},
		{"a pattern of no operation", "operation=*Blob fault=500", []string{`"*Blob"`, "GetEntity"}},
		{"one of a list", "operation=read,,write fault=500", []string{`no operation ""`}},
		{"a fault that is none", "fault=418", []string{"fault=418", "500, 503, reset or lost-reply", "latency="}},
		{"a fault that is a word", "fault=latency", []string{"latency=1s"}},
		{"no fault", "operation=read count=1", []string{"simulates nothing", "latency=", "fault=", "being-deleted="}},
		{"the same word twice", "table=a table=b fault=500", []string{"table occurs twice", "semicolon"}},
		{"two ways to say how often", "every=2 probability=0.5 fault=500", []string{"every", "probability"}},
		{"percent", "probability=10 fault=500", []string{"probability=10", "up to 1"}},
		{"never", "probability=0 fault=500", []string{"above 0"}},
		{"not a number", "probability=NaN fault=500", []string{"above 0"}},
		{"no whole number", "every=1.5 fault=500", []string{"every=1.5", "whole number"}},
		{"a count of none", "count=0 fault=500", []string{"whole number above 0"}},
		{"a time without a unit", "latency=200", []string{"latency=200", "200ms"}},
		{"a time without measure", "latency=2000h", []string{"24h"}},
		{"a range backwards", "latency=500ms-50ms", []string{"range"}},
		{"a seed for nothing", "seed=3 fault=500", []string{"seed", "probability"}},
		{"two kinds of rules in one", "being-deleted=30s latency=1s", []string{"separate rule"}},
		{"a name of one operation", "being-deleted=30s operation=InsertEntity", []string{"DeleteTable"}},
		{"where it is", "fault=500; fault=503\n\nfault=500; fault=600", []string{"line 3, rule 4", "fault=600"}},
		{"a line without end", "fault=500\npartition=" + strings.Repeat("a", 1<<17), []string{"after rule 1", "too long"}},
	} {
		rules, err := chaos.Parse(tt.spec)
		if err == nil || rules != nil {
			t.Errorf("%s: %s: got %v, %v", tt.why, tt.spec, rules, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", tt.why, err, want)
			}
		}
	}
}

// TestRead checks that rules can be read from a file with one rule per line.
func TestRead(t *testing.T) {
	t.Parallel()
	file := "# The disk of a Monday.\nlatency=50ms-500ms operation=write\n\nfault=503 every=10  # busy\n"
	rules, err := chaos.Read(bytes.NewBufferString(file))
	if err != nil || len(rules) != 2 || rules[1].Every != 10 {
		t.Errorf("got %+v, %v", rules, err)
	}
}

// FuzzParse checks that the text of a rule, parsed again, is the same rule.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, spec string) {
		rules, err := chaos.Parse(spec)
		if err != nil {
			if rules != nil {
				t.Error("an error comes with rules")
			}
			return
		}
		for _, r := range rules {
			again, err := chaos.Parse(r.String())
			if err != nil || len(again) != 1 || !reflect.DeepEqual(again[0], r) {
				t.Errorf("%q is %s, which is %+v, %v", spec, r.String(), again, err)
			}
		}
	})
}

// TestEveryOperation checks that a rule can name each operation of the protocol,
// and that the documentation lists all of them.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/chaos.md")
	if err != nil {
		t.Fatal(err)
	}
	_, listed, _ := strings.Cut(string(text), "The operations are ")
	listed, _, _ = strings.Cut(listed, ".")
	for _, name := range protocol.Operations() {
		if _, err := chaos.Parse("operation=" + name + " fault=500"); err != nil {
			t.Error(err)
		}
		if !slices.Contains(strings.FieldsFunc(listed, func(r rune) bool { return strings.ContainsRune(" ,\n", r) }), name) {
			t.Errorf("docs/chaos.md does not list %s", name)
		}
	}
}
