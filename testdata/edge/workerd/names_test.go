package workerd_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"reflect"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/testdata/edge/workerd"
)

// TestNames checks that the shell (the Worker's JavaScript) requests Durable Objects by name, with their
// jurisdiction and a location hint. workerd supports no locations, so the test uses its own object namespace,
// which follows the platform's documentation.
func TestNames(t *testing.T) {
	node, err := workerd.Node()
	if err != nil {
		t.Fatal(err)
	}
	module, err := workerd.Module("")
	if err != nil {
		t.Fatal(err)
	}
	type options struct{ LocationHint string }
	type ask struct {
		Jurisdiction, Name string
		Options            *options
	}
	const key = "table/acct/people"
	rows := []struct {
		object durableobject.Address
		want   ask
	}{
		{durableobject.Catalog("acct", ""), ask{Name: "catalog/acct"}},
		{durableobject.Catalog("acct", "eu"), ask{Name: "catalog/acct", Jurisdiction: "eu"}},
		{durableobject.Range(key, 1, 0, 0, ""), ask{Name: "bucket/table/acct/people/1/0"}},
		{durableobject.Range(key, 8, 3, 0, "fedramp"), ask{Name: "bucket/table/acct/people/8/3", Jurisdiction: "fedramp"}},
		{durableobject.Range(key, 8, 3, 0, "weur"), ask{Name: "bucket/table/acct/people/8/3@weur", Options: &options{"weur"}}},
		{durableobject.Range(key, 8, 3, 0, "us/wnam"), ask{Name: "bucket/table/acct/people/8/3@wnam", Jurisdiction: "us", Options: &options{"wnam"}}},
	}
	calls := []durableobject.Call{{To: durableobject.Range(key, 1, 0, 0, "mars/"), Message: []byte("nobody")}}
	// The name of the first call's object is invalid ("mars/"). Its response says that no object handled the
	// message.
	want, answers := []ask{}, []byte{1, 0, 0, 0, 3}
	for i, row := range rows {
		calls = append(calls, durableobject.Call{To: row.object, Message: []byte{'m', byte(i)}})
		want = append(want, row.want)
		answers = append(answers, 4, 0, 0, 0, 0, byte(i), 'm', byte(i))
	}
	c := exec.Command(node, "../names.mjs", module)
	c.Stdin = bytes.NewReader(workerd.Frames(calls))
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Asked   []ask
		Answers []int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Asked, want) {
		t.Errorf("the namespace was asked for %+v, want %+v", got.Asked, want)
	}
	answered := make([]byte, len(got.Answers))
	for i, b := range got.Answers {
		answered[i] = byte(b)
	}
	if !bytes.Equal(answered, answers) {
		t.Errorf("the answers are %v, want %v", answered, answers)
	}
}
