package tables

import (
	"strings"

	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

// readOptions parses an options document. Each error begins with the source of the document.
func readOptions(of string, text []byte) (table.TableOptions, error) {
	o, err := payload.ReadOptions(text)
	if err != nil {
		return o, cli.Misuse("%s: %v", of, err)
	}
	return o, nil
}

// optionsDocument returns an options document without the members "state", which the server adds.
func optionsDocument(o table.TableOptions) []byte {
	text := payload.AppendOptions(nil, &table.Traits{Expiry: o.Expire, Feed: o.Changes}, 1<<62)
	return []byte(strings.ReplaceAll(string(text), `,"state":"active"`, ""))
}
