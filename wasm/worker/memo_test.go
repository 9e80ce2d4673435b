package main

import (
	"reflect"
	"testing"

	"edgetable/adapters/store/workerskv"
)

func TestMemo(t *testing.T) {
	t.Parallel()
	for _, m := range []workerskv.Memo{
		{Name: "e", Stamp: 1, Body: []byte("body"), At: 1 << 62},
		{Name: "deleted", Stamp: 1 << 60, At: 3},
		{Name: "doubted", Body: []byte{}, Doubted: true},
	} {
		f := appendMemo(nil, &m).add(m.Body)
		got, err := readMemo(f)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v became %+v, %v", m, got, err)
		}
		for n := range f {
			if _, err := readMemo(f[:n]); err == nil {
				t.Errorf("%q is a memo", f[:n])
			}
		}
	}
}
