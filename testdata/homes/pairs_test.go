package homes

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"edgetable/testdata/edge/workerd"
	"edgetable/testdata/proc"
)

// home is a table service: a deployment of edgetable, or Azurite. The commands under test copy data from it and to it.
type home struct {
	name string
	url  string   // URL of the service; the URLs of its accounts begin with it
	mode []string // flag --mode of import and copy; nil for the default
}

var homes = []string{"binary", "lambda", "objects", "kv", "azurite"}

// own is the name of an account. Each service has this account, and exports its table. Each service also has two accounts for
// every other service: one for imported tables and one for copied tables.
const own = "own"

func imported(from string) string { return "imported" + from }
func copied(from string) string   { return "copied" + from }

// startAll starts all homes (kinds of deployment) with the same accounts.
func startAll(t *testing.T, key string) []*home {
	t.Helper()
	list := []string{own + ":" + key}
	for _, name := range homes {
		list = append(list, imported(name)+":"+key, copied(name)+":"+key)
	}
	accounts := strings.Join(list, ";")
	worker := func(kv bool) string {
		s, err := workerd.Start(workerd.Options{Data: t.TempDir(), KV: kv, Log: proc.Log(t),
			Env: []string{"EDGETABLE_ACCOUNTS=" + strings.Join(list, "\n"), "EDGETABLE_SETTINGS_AGE=0s", "EDGETABLE_SPLIT_BYTES=1"}}) // tables split
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		return s.Worker
	}
	return []*home{
		{"binary", serve(t, binary(t), accounts), nil},
		{"lambda", serve(t, filepath.Join(root, "testdata", "lambda", "edgetable"), accounts, "EDGETABLE_FUNCTIONS=4"), nil},
		{"objects", worker(false), nil},
		{"kv", worker(true), []string{"--mode", "replace"}}, // replace, because KV cannot insert without overwriting
		{"azurite", azurite(t, accounts), nil},
	}
}

// progress matches the lines in which commands report their progress. On a busy machine a home may answer late, and the
// command waits.
var progress = regexp.MustCompile(`(?m)^.*(?: at once| does not answer; waiting until \S+)\n`)

// TestPairs moves the same entities between all homes: the kinds of deployment, and Azurite. First it imports a file into each
// home, and exports the table again. Then it moves each table to other homes, both by importing the export and by copying the
// table. Usually the only target is the next home of the list; with EDGETABLE_MANY (see 'make homes-all'), the targets are all
// other homes. Every table must equal its source, and each export must equal the file, except for values that Azurite changes.
func TestPairs(t *testing.T) {
	key := newKey()
	all := startAll(t, key)
	lines := entities()
	file := filepath.Join(t.TempDir(), "People.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := fmt.Sprint(len(lines))
	exported := map[*home]string{}
	for _, h := range all {
		at := connection(h.url, own, key)
		out := edgetable(t, 0, append([]string{"import", file, "--to", at}, h.mode...)...)
		if said := progress.ReplaceAllString(out, ""); said != n+" rows written\n" {
			t.Errorf("%s: %s", h.name, out)
		}
		exported[h] = filepath.Join(t.TempDir(), h.name)
		edgetable(t, 0, "export", "--all", "--from", at, "--to", exported[h])
		want := byKeys(t, lines)
		if h.name == "azurite" {
			asAzurite(want)
		}
		if got := byKeys(t, read(t, exported[h])); !compare(t, want, got) {
			t.Fatalf("%s keeps other entities", h.name)
		}
	}
	many := os.Getenv("EDGETABLE_MANY") != ""
	for i, from := range all {
		for _, to := range all {
			if from == to || !many && to != all[(i+1)%len(all)] {
				continue
			}
			t.Run(from.name+"-"+to.name, func(t *testing.T) {
				source := connection(from.url, own, key)
				verify := func(target string) {
					t.Helper()
					// If the entities were copied to Azurite, some numbers differ, because Azurite does not keep their type.
					status, want := 0, n+" entities are equal, 0 are not\n"
					if to.name == "azurite" {
						status, want = 4, fmt.Sprintf("%d entities are equal, %d are not\n", len(lines)-len(changedByAzurite), len(changedByAzurite))
					}
					if out := edgetable(t, status, "verify", "--all", "--from", source, "--to", target); !strings.Contains(out, want) {
						t.Errorf("%s", out)
					}
				}
				target := connection(to.url, imported(from.name), key)
				edgetable(t, 0, append([]string{"import", exported[from], "--to", target, "--progress-file", filepath.Join(t.TempDir(), "progress")}, to.mode...)...)
				verify(target)
				target = connection(to.url, copied(from.name), key)
				edgetable(t, 0, append([]string{"copy", "--all", "--from", source, "--to", target}, to.mode...)...)
				verify(target)
			})
		}
	}
}

// changedByAzurite maps values to those that Azurite returns instead. Azurite runs in JavaScript, where a Double without a fraction
// is a whole number, which clients read as an Int32. docs/migrate-from-azurite.md says so.
var changedByAzurite = map[string]string{"-0.0": "0", "0.0": "0", "5.0": "5"}

// asAzurite makes those changes to the entities that Azurite makes when it stores them.
func asAzurite(all map[string]map[string]string) {
	for _, entity := range all {
		if value, ok := changedByAzurite[entity["Value"]]; ok && entity["Value@odata.type"] == "" {
			entity["Value"] = value
		}
	}
}

// read returns the lines of an export.
func read(t *testing.T, dir string) (lines []string) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, "People", "part-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		text, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	return lines
}

// byKeys parses lines of JSON. For each PartitionKey and RowKey, it returns the properties of the entity without Timestamp.
func byKeys(t *testing.T, lines []string) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, line := range lines {
		var raw map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &raw); err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
		entity := map[string]string{}
		for name, value := range raw {
			entity[name] = string(value)
		}
		delete(entity, "Timestamp")
		all[entity["PartitionKey"]+" "+entity["RowKey"]] = entity
	}
	if len(all) != len(lines) {
		t.Errorf("%d keys in %d lines", len(all), len(lines))
	}
	return all
}

// compare reports the entities that differ.
func compare(t *testing.T, want, got map[string]map[string]string) (equal bool) {
	t.Helper()
	if len(want) == len(got) && maps.EqualFunc(want, got, maps.Equal[map[string]string, map[string]string]) {
		return true
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[key]; !ok {
			t.Errorf("%s is missing", key)
		} else if !maps.Equal(g, want[key]) {
			t.Errorf("%s is %.300s, not %.300s", key, fmt.Sprint(g), fmt.Sprint(want[key]))
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s is there, as %.300s", key, fmt.Sprint(got[key]))
		}
	}
	return false
}
