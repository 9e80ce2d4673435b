package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"edgetable/functions/edgetable/azurite"
	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// TestAzuriteFlags compares the table of Azurite's flags in docs/migrate-from-azurite.md with the errors that serve
// prints for these flags. It also checks that serve has the flags that the table recommends. With -update it writes
// the table.
func TestAzuriteFlags(t *testing.T) {
	t.Parallel()
	const page, begin, end = "../../docs/migrate-from-azurite.md", "-update' -->\n\n", "\n<!-- end of flags"
	serve, _, err := (&program{Terminal: new(cli.Terminal)}).root().Find([]string{"serve"})
	must.OK(t, err)
	var b bytes.Buffer
	b.WriteString("| Azurite | `edgetable serve` |\n|---|---|\n")
	for _, e := range azurite.Equivalents {
		name, here := "`--"+e.Flag+"`", e.Why
		if e.Short != "" {
			name += ", `-" + e.Short + "`"
		}
		switch {
		case e.Here == "":
			here = "not needed: " + here
		case here != "":
			here = "`" + e.Here + "`: " + here
		default:
			here = "`" + e.Here + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, here)
		if flag, _, _ := strings.Cut(strings.TrimPrefix(e.Here, "--"), " "); e.Here != "" && serve.Flags().Lookup(flag) == nil {
			t.Errorf("serve has no --%s, which stands for --%s of Azurite", flag, e.Flag)
		}
	}
	b.WriteString("| `--blob…`, `--queue…` | not needed: blobs and queues are not served |\n")
	text, err := os.ReadFile(page)
	must.OK(t, err)
	head, rest, found := bytes.Cut(text, []byte(begin))
	old, tail, ended := bytes.Cut(rest, []byte(end))
	switch {
	case !found, !ended:
		t.Fatalf("%s has no place for the flags of Azurite", page)
	case bytes.Equal(old, b.Bytes()):
	case !*update:
		t.Fatalf("%s has another table of flags; run this test with -update", page)
	default:
		must.OK(t, os.WriteFile(page, bytes.Join([][]byte{head, []byte(begin), b.Bytes(), []byte(end), tail}, nil), 0o644))
	}
}
