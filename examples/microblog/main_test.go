package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// TestRun runs the program against the server of EDGETABLE_CONNECTION_STRING and checks its output.
func TestRun(t *testing.T) {
	if os.Getenv("EDGETABLE_CONNECTION_STRING") == "" {
		t.Fatal("EDGETABLE_CONNECTION_STRING is not set: this test needs a running server")
	}
	prefix := "Microblog" + rand.Text()[:12]
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-prefix", prefix, "-posts", "7", "-page", "3"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}

	dates := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	counts := regexp.MustCompile(`after \d+ conflicts`)
	got := counts.ReplaceAllString(dates.ReplaceAllString(out.String(), "DATE"), "after N conflicts")
	posts := func(numbers ...int) string {
		var lines strings.Builder
		for _, number := range numbers {
			fmt.Fprintf(&lines, "  DATE  Emilia O'Hara: Post %d\n", number)
		}
		return lines.String()
	}
	want := "created table " + prefix + "Channels\n" +
		"created table " + prefix + "Blogs\n" +
		"created channel Football by Emilia O'Hara: Results & rumours ⚽\n" +
		"a second channel of that name is refused: EntityAlreadyExists\n" +
		"wrote 7 posts in one transaction\n" +
		"page 1:\n" + posts(7, 6, 5) + "page 2:\n" + posts(4, 3, 2) + "page 3:\n" + posts(1) +
		"since DATE:\n" + posts(7, 6, 5) +
		"first editor changed the topic: Results & rumours ⚽, tables\n" +
		"second editor is refused: UpdateConditionNotSatisfied\n" +
		"second editor read again and changed the topic: Results & rumours ⚽, tables, quizzes\n" +
		"4 writers added 5 each at the same time: the count is 20, after N conflicts\n" +
		"deleted the newest post\n" +
		"deleted 6 posts in one transaction\n" +
		"deleted channel Football\n" +
		"deleted 2 tables\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}

	service, err := aztables.NewServiceClientFromConnectionString(os.Getenv("EDGETABLE_CONNECTION_STRING"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"Channels", "Blogs"} {
		if _, err := service.DeleteTable(t.Context(), prefix+table, nil); !hasCode(err, aztables.ResourceNotFound) {
			t.Errorf("table %s is left behind (%v)", table, err)
		}
	}
}

// TestForeignTableIsLeftAlone checks that the program does not delete a table that existed before.
func TestForeignTableIsLeftAlone(t *testing.T) {
	t.Parallel()
	service, err := aztables.NewServiceClientFromConnectionString(os.Getenv("EDGETABLE_CONNECTION_STRING"), nil)
	if err != nil {
		t.Fatal(err)
	}
	prefix := "Microblog" + rand.Text()[:12]
	if _, err := service.CreateTable(t.Context(), prefix+"Blogs", nil); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"-prefix", prefix}, new(bytes.Buffer)); !hasCode(err, aztables.TableAlreadyExists) {
		t.Errorf("got %v, want TableAlreadyExists", err)
	}
	if _, err := service.DeleteTable(t.Context(), prefix+"Channels", nil); !hasCode(err, aztables.ResourceNotFound) {
		t.Errorf("the table it created is left behind (%v)", err)
	}
	if _, err := service.DeleteTable(t.Context(), prefix+"Blogs", nil); err != nil {
		t.Errorf("the foreign table is gone: %v", err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-env", "NO_SUCH_VARIABLE_IS_SET"},
		{"-connection-string", "nonsense"},
		{"-posts", "101"},
		{"-page", "0"},
	} {
		if err := run(t.Context(), args, new(bytes.Buffer)); err == nil {
			t.Errorf("run %q: got %v, want an error", args, err)
		}
	}
}
