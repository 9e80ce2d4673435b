package csvfile

import (
	"errors"
	"io"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/testdata/must"
)

// TestAppendKeyOfCSV checks that AppendKey and Next return the same keys, for keys from columns and
// from templates, and that both refuse the same rows.
func TestAppendKeyOfCSV(t *testing.T) {
	t.Parallel()
	const text = "A,RowKey,PartitionKey\n1,b,a\n,\"\",\"\"\n1,,a\n1,b\n2,\"c,d\",ä\n"
	for _, mapping := range []rows.Mapping{{}, {PartitionKey: "A"}, {RowKey: "{row:4}"}, {Types: map[string]edm.Type{"A": edm.TypeInt32}}} {
		open := func() rows.Reader {
			m, err := mapping.Mapper(rows.File{Path: "a.csv"})
			must.OK(t, err)
			r, err := NewRows(strings.NewReader(text), nil, m)
			must.OK(t, err)
			return r
		}
		list := func(next func(r rows.Reader) ([]byte, error)) (keys []string) {
			for r := open(); ; {
				k, err := next(r)
				if err == io.EOF {
					return keys
				}
				if _, bad := errors.AsType[*rows.Bad](err); bad {
					k = []byte("refused")
				} else {
					must.OK(t, err)
				}
				keys = append(keys, string(k))
			}
		}
		want := list(func(r rows.Reader) ([]byte, error) {
			one, err := r.Next()
			return key.Append(nil, one.PartitionKey, one.RowKey), err
		})
		if got := list(func(r rows.Reader) ([]byte, error) { return rows.AppendKey(nil, r) }); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%+v: %q instead of %q", mapping, got, want)
		}
	}
}
