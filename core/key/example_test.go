package key_test

import (
	"bytes"
	"fmt"

	"edgetable/core/key"
)

// Example shows that the service orders keys by UTF-16 code unit. An emoji (two surrogates in UTF-16) sorts before a
// full-width letter.
func Example() {
	emoji := key.Append(nil, "p", "😀")
	wide := key.Append(nil, "p", "Ａ")
	fmt.Println(bytes.Compare(emoji, wide) < 0, "😀" < "Ａ")

	prefix := key.Range{Start: key.RowFrom("p", "a"), End: key.RowFrom("p", "b")}
	fmt.Println(prefix.Contains(key.Append(nil, "p", "apple")), prefix.Contains(key.Append(nil, "p", "banana")))
	// Output:
	// true false
	// true false
}
