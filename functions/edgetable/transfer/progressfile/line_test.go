package progressfile

import "testing"

// TestParseLine checks that ParseLine refuses a line with unknown fields as a whole.
func TestParseLine(t *testing.T) {
	t.Parallel()
	if l, err := ParseLine([]byte(`{"table":"People","range":3,"rows":7}`)); err != nil || l.Range != 3 || l.Rows != 7 {
		t.Errorf("%+v, %v", l, err)
	}
	for _, text := range []string{`{"table":"People","part":3,"rows":7}`, `{"source":2,"rows":7}`, `{`} {
		if _, err := ParseLine([]byte(text)); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}
