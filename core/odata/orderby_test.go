package odata_test

import (
	"errors"
	"testing"

	"edgetable/core/odata"
)

func TestParseOrder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"PartitionKey,RowKey":                  "PartitionKey, RowKey",
		" PartitionKey asc , RowKey asc ":      "PartitionKey, RowKey",
		"PartitionKey desc, RowKey desc":       "PartitionKey desc, RowKey desc",
		"PartitionKey\tdesc,RowKey  desc":      "PartitionKey desc, RowKey desc",
		"RowKey":                               "RowKey",
		"RowKey asc":                           "RowKey",
		"RowKey desc":                          "RowKey desc",
		"":                                     "",
		",":                                    "",
		"PartitionKey":                         "",
		"PartitionKey desc":                    "",
		"PartitionKey desc, RowKey":            "",
		"PartitionKey, RowKey desc":            "",
		"RowKey, PartitionKey":                 "",
		"RowKey DESC":                          "",
		"rowkey":                               "",
		"Timestamp desc":                       "",
		"PartitionKey, RowKey, Name":           "",
		"PartitionKey desc, RowKey desc desc":  "",
		"PartitionKey desc, RowKey descending": "",
	} {
		o, err := odata.ParseOrder(text)
		if want == "" {
			if !errors.Is(err, odata.ErrOrder) || o != (odata.Order{}) {
				t.Errorf("%q is %q, %v", text, o, err)
			}
			continue
		}
		if err != nil || o.String() != want {
			t.Errorf("%q is %q, %v, want %q", text, o, err, want)
		}
	}
}

func TestOnePartition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"PartitionKey eq 'p'":                                      true,
		"PartitionKey eq 'p' and RowKey ge 'r' and Age gt 5":       true,
		"PartitionKey eq '' and RowKey ne 'r'":                     true,
		"PartitionKey eq 'p' and (RowKey eq 'r' or RowKey eq 's')": true,
		"PartitionKey eq 'p' and startswith(RowKey,'r')":           true,
		"PartitionKey eq 'p' and PartitionKey eq 'q'":              true, // no entity matches this filter
		"PartitionKey eq 'p' or PartitionKey eq 'q'":               false,
		"RowKey eq 'r'":                false,
		"startswith(PartitionKey,'p')": false,
		"PartitionKey ge 'p'":          false,
		"PartitionKey eq 'p' or PartitionKey eq 'q' and RowKey eq 'r'":   false,
		"PartitionKey gt 'p' and PartitionKey lt 'p0' and RowKey eq 'r'": false,
	} {
		if p := odata.MakePlan(mustParse(t, text)); p.OnePartition() != want {
			t.Errorf("%q: %v, of %q", text, !want, show(p.Ranges))
		}
	}
}
