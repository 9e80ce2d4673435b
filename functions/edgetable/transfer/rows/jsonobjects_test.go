package rows

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// FuzzJSONDocument reads a list of entities and the response to a query. It checks that the
// entities are unchanged. For any text, the reader must come to an end.
func FuzzJSONDocument(f *testing.F) {
	f.Add(`[{"a":"\"]}"},{}]`)
	f.Add(`{"odata.metadata":"x","value":[{"a":1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		all := func(text string) (list []string, err error) {
			r := NewObjectReader(bufio.NewReader(strings.NewReader(text)))
			for {
				one, _, err := r.Next()
				if err == io.EOF {
					return list, nil
				}
				if err != nil {
					return list, err
				}
				list = append(list, string(one))
			}
		}
		list, err := all(text)
		if err != nil {
			return
		}
		for _, form := range []string{"[", `{"value":[`} {
			end := map[string]string{"[": "]", `{"value":[`: "]}"}[form]
			again, err := all(form + strings.Join(list, ",") + end)
			if err != nil || strings.Join(again, "|") != strings.Join(list, "|") {
				t.Fatalf("%q became %q, %v", list, again, err)
			}
		}
	})
}
