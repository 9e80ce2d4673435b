package clients_test

import (
	"fmt"
	"os"
	"strconv"
)

// What a store cannot do is declared in the environment, as ../README.md says.
var (
	// keyBytes is how much a PartitionKey and a RowKey may have together; 0 for as much as the protocol allows.
	keyBytes = declared("EDGETABLE_CLIENTS_KEY_BYTES")
	// tornPages says, if it is not 0, that a page may show a part of a transaction while it is committed.
	tornPages = declared("EDGETABLE_CLIENTS_TORN_PAGES")
	// lastWriteWins says, if it is not 0, that writes at the same time do not see each other, and that a transaction may be
	// applied in part.
	lastWriteWins = declared("EDGETABLE_CLIENTS_LAST_WRITE_WINS")
)

func declared(variable string) int {
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		fmt.Fprintf(os.Stderr, "%s=%q is not a number\n", variable, text)
		os.Exit(1)
	}
	return n
}

// tooLong reports whether the store refuses these keys.
func tooLong(partition, row string) bool {
	return keyBytes > 0 && len(partition)+len(row) > keyBytes
}
