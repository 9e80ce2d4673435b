package cli

import "testing"

func TestWrap(t *testing.T) {
	t.Parallel()
	for columns, want := range map[int]string{0: "ab cd ef gh", 12: "ab cd ef\n    gh", 3: "ab\n    cd\n    ef\n    gh"} {
		if got := (&Terminal{Columns: columns}).Wrap(4, "ab cd ef gh"); got != want {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
}
