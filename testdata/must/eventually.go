package must

import (
	"fmt"
	"testing"
	"time"
)

// Eventually waits until a condition holds that another process or the file system brings
// about. After three minutes it ends the test and prints why, such as the logs of a server.
func Eventually(t testing.TB, why fmt.Stringer, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not happen:\n%s", why)
		}
	}
}
