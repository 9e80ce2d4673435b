package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// TestProfiles checks that a profile stores a connection string, and that the key may be stored
// elsewhere. Only the owner may read the file, and no command may print a key.
func TestProfiles(t *testing.T) {
	t.Parallel()
	at := service(t)
	_, key, _ := connection(t, at)
	without := strings.Replace(at, "AccountKey="+key+";", "", 1)
	file := filepath.Join(t.TempDir(), "new", "profiles.json")
	env := map[string]string{"EDGETABLE_PROFILES": file, "KEY": key, "ALL": at}
	do := console{t, env}
	if out, said := do.run(0, "profile", "list"); out != "" || !strings.Contains(said, file+" has no profiles") {
		t.Errorf("list without a file: %s%s", out, said)
	}
	if _, said := do.run(0, "profile", "add", "prod", at); said != "added prod in "+file+"\n" {
		t.Error(said)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	do.run(0, "profile", "add", "by-env", without, "--key-env", "KEY")
	do.run(0, "profile", "add", "default", "--key-command", "echo '"+at+"'")
	do.run(0, "profile", "add", "by-command", without, "--key-command", "printf %s \"$(echo "+key+")\"")
	for _, from := range [][]string{{"--from", "prod"}, {"--from", "by-env"}, {"--from", "by-command"}, nil} {
		if out, _ := do.run(0, append([]string{"count", "People"}, from...)...); out != "0\n" {
			t.Errorf("%s: %s", from, out)
		}
	}
	do.says(2, "the name is empty; name a service", "count", "People", "--from", "") // an empty value must not mean the default service, because a script may have an unset variable
	out, said := do.run(0, "profile", "list")
	if strings.Count(out, "\n") != 4 || strings.Contains(strings.ReplaceAll(out+said, "echo "+key, ""), "AccountKey="+key+";\n") || !strings.Contains(out, "key in $KEY") ||
		!strings.Contains(out, "prod        http://127.0.0.1") {
		t.Error(out, said)
	}
	if _, said := do.run(0, "profile", "add", "prod", at); said != "replaced prod in "+file+"\n" {
		t.Error(said)
	}
	for _, args := range [][]string{{"query", "--profiles", file, "--from", ""}, {"sync", "--profiles", file, "--to", ""}, {"profile", "remove", "--profiles", file, ""}} {
		if out, _ := do.run(0, append([]string{"__complete"}, args...)...); !strings.HasPrefix(out, "by-command\nby-env\ndefault\nprod\n:4\n") {
			t.Errorf("%q: %s", args, out)
		}
	}
	do.run(0, "profile", "remove", "prod")
	for _, tt := range []struct {
		args []string
		say  string
	}{
		{[]string{"profile", "remove", "prod"}, "has no profile 'prod'"},
		{[]string{"profile", "add", "a=b", at}, "not a valid profile name"},
		{[]string{"profile", "add", "x", "AccountName=a"}, "neither AccountKey nor"},
		{[]string{"profile", "add", "x", at, "--key-env", "A", "--key-command", "b"}, "exclude each other"},
		{[]string{"count", "People", "--from", "prod"}, "no profile 'prod'"},
	} {
		if status, _, said := runUntil(t.Context(), env, tt.args...); status == 0 || !strings.Contains(said, tt.say) {
			t.Errorf("%q: status %d: %s", tt.args, status, said)
		}
	}
	do.run(0, "profile", "add", "failing", "--key-command", "echo locked >&2; exit 3")
	console{t, env}.says(1, "locked", "count", "People", "--from", "failing")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	console{t, env}.says(1, "chmod 600", "profile", "list")
}

// TestProfilesOfLaterVersion checks fields in a profile that this version does not know, because a
// later version has written them. When this version changes another profile, it must keep these
// fields.
func TestProfilesOfLaterVersion(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "profiles.json")
	must.OK(t, os.WriteFile(file, []byte(`{"a": {"connection": "UseDevelopmentStorage=true", "later": {"x": [1]}}, "b": {"connection": "UseDevelopmentStorage=true"}}`), 0o600))
	ok(t, "profile", "add", "c", "UseDevelopmentStorage=true", "--profiles", file)
	ok(t, "profile", "remove", "b", "--profiles", file)
	text, err := os.ReadFile(file)
	must.OK(t, err)
	var got map[string]map[string]any
	must.OK(t, json.Unmarshal(text, &got))
	if len(got) != 2 || got["a"]["later"] == nil || got["c"]["connection"] == nil {
		t.Errorf("the file has %s", text)
	}
}
