package clients_test

import (
	"fmt"
	"os"
	"strconv"
)

// Environment variables declare what the tested store cannot do; see ../README.md.
var (
	// keyBytes is the maximum size of PartitionKey and RowKey together; 0 means the protocol's limit.
	keyBytes = declared("EDGETABLE_CLIENTS_KEY_BYTES")
	// tornPages is 1 if a page may contain only a part of a transaction that is being committed. Otherwise it
	// is 0.
	tornPages = declared("EDGETABLE_CLIENTS_TORN_PAGES")
	// lastWriteWins is 1 if the store does not detect concurrent writes, and 0 for other stores. A store
	// without this detection may also apply only a part of a transaction.
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

// tooLong reports whether the store's limit refuses these keys.
func tooLong(partition, row string) bool {
	return keyBytes > 0 && len(partition)+len(row) > keyBytes
}
