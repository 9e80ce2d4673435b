package main

import (
	"strings"
	"sync"
	"testing"

	"edgetable/core/accounts"
	"edgetable/testdata/dynamodb/local"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
)

var localDynamoDB = sync.OnceValues(func() (string, error) {
	url, stop, err := local.Start()
	if err == nil {
		endings = append(endings, stop)
	}
	return url, err
})

// dynamodbTable creates a DynamoDB table with 'dynamodb create'. It returns the flags that select
// the table.
func dynamodbTable(t *testing.T, name string) []string {
	t.Helper()
	needs.These(t, needs.AWS)
	url, err := localDynamoDB()
	must.OK(t, err)
	flags := []string{"--dynamodb-table", name, "--dynamodb-region", "us-east-1", "--dynamodb-endpoint", url}
	for _, say := range []string{" was created\n", " already exists, with the right keys\n"} {
		status, out, stderr := runUntil(t.Context(), nil, append([]string{"dynamodb", "create"}, flags...)...)
		if status != 0 || out != "the DynamoDB table "+name+" at "+url+say {
			t.Fatalf("status %d: %s%s", status, out, stderr)
		}
	}
	return flags
}

// TestDynamoDBServe checks that two servers with the same DynamoDB table serve the same tables. A
// server that starts later must also find these tables.
func TestDynamoDBServe(t *testing.T) {
	t.Parallel()
	flags := append(dynamodbTable(t, "served"), "--store", "dynamodb", "--dynamodb-lease", "0")
	own := map[string]string{accounts.Variable: "acme:" + key1}
	a, b := start(t, own, flags...), start(t, own, append(flags, "--metrics-listen", "127.0.0.1:0")...)
	if !strings.Contains(a.greeting, "keeps its tables in the DynamoDB table served at http://127.0.0.1:") {
		t.Errorf("greeting:\n%s", a.greeting)
	}
	a.client(t, key1).fill(t)
	b.client(t, key1).filled(t)
	if text := b.client(t, key1).do(t, "GET", "/people", "", 200); !strings.Contains(text, `"Name":"Ada"`) {
		t.Errorf("the table is %s", text)
	}
	m := b.scrape(t, "")
	if pages := sumOf(t, m, "dynamodb_pages_total"); pages != 1 {
		t.Errorf("%v pages", pages)
	}
	for _, labels := range []string{"action=GetItem", "action=Query"} {
		if sumOf(t, m, "dynamodb_call_duration_seconds", labels, "result=success") == 0 {
			t.Errorf("no call with %s", labels)
		}
	}
	b.client(t, key1).do(t, "PUT", ada, `{"Name":"Ada"}`, 204)
	m = b.scrape(t, "")
	if sumOf(t, m, "dynamodb_consumed_units_total", "kind=read") == 0 || sumOf(t, m, "dynamodb_consumed_units_total", "kind=write") == 0 {
		t.Errorf("units: %v", m["edgetable_dynamodb_consumed_units_total"])
	}
	a.ends(t)
	b.ends(t)
	start(t, own, flags...).client(t, key1).filled(t)
}

// TestDynamoDBRebucket changes the number of hash keys of a table (its buckets) while a server
// serves the table.
func TestDynamoDBRebucket(t *testing.T) {
	t.Parallel()
	flags := append(dynamodbTable(t, "rebucketed"), "--dynamodb-lease", "0")
	c := start(t, map[string]string{accounts.Variable: "acme:" + key1}, append(flags, "--store", "dynamodb")...).client(t, key1)
	c.fill(t)
	rebucket := func(want int, args ...string) string {
		t.Helper()
		args = append(append([]string{"dynamodb", "rebucket", "--account", "acme"}, flags...), args...)
		status, _, stderr := runUntil(t.Context(), nil, args...)
		if status != want {
			t.Fatalf("%v: status %d, want %d: %s", args, status, want, stderr)
		}
		return stderr
	}
	for _, step := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--buckets", "3", "--max-pause", "1ns", "people"}, 1, "run the command again when there are fewer writes, or with a longer --max-pause"},
		{[]string{"--buckets", "5", "people"}, 1, "resume it with --buckets 3, or give up with --abort"},
		{[]string{"--buckets", "3", "PEOPLE"}, 0, "PEOPLE now has 3 buckets (hash keys). "},
		{[]string{"--buckets", "3", "people"}, 0, "there is nothing to do\n"},
		{[]string{"--abort", "people"}, 0, "there is nothing to do\n"},
		{[]string{"--buckets", "3", "nobody"}, 1, "the account acme has no table nobody"},
	} {
		text := rebucket(step.status, step.args...)
		if !strings.Contains(text, step.want) {
			t.Errorf("%v: want %q:\n%s", step.args, step.want, text)
		}
		if strings.Contains(text, ": 0 entities compared") { // the command must copy and compare the entity of the table
			t.Errorf("%v says that it compared nothing:\n%s", step.args, text)
		}
		c.filled(t)
	}
	c.do(t, "PUT", ada, `{"Name":"Ada","Born":1815}`, 204)
	c.filled(t)
}

func TestDynamoDBTableMissing(t *testing.T) {
	needs.These(t, needs.AWS)
	t.Parallel()
	url, err := localDynamoDB()
	must.OK(t, err)
	status, _, stderr := runUntil(t.Context(), nil, "serve", "--listen", "127.0.0.1:0", "--store", "dynamodb", "--dynamodb-table", "nowhere", "--dynamodb-region", "us-east-1", "--dynamodb-endpoint", url)
	want := "the DynamoDB table nowhere at " + url + " does not exist: create it with 'edgetable dynamodb create'"
	if status != 1 || !strings.Contains(stderr, want) {
		t.Errorf("status %d, want 1 and %q:\n%s", status, want, stderr)
	}
}
