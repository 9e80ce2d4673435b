package sas_test

import (
	"slices"
	"testing"

	"edgetable/core/sas"
	"edgetable/testdata/must"
)

// TestDescribeIsReadable checks that Describe does not escape letters of other scripts in keys.
func TestDescribeIsReadable(t *testing.T) {
	t.Parallel()
	token, err := sas.Parse("sv=2019-02-02&tn=people&se=2030-01-01&sp=r&spk=Zo%C3%AB%20%E5%8C%97&epk=%C3%BC&sig=c2lnbmF0dXJl")
	must.OK(t, err)
	lines := token.Describe()
	for _, want := range []string{`first entity: PartitionKey "Zoë 北"`, `last entity: PartitionKey "ü"`} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %s in %q", want, lines)
		}
	}
}
