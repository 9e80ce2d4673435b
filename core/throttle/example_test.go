package throttle_test

import (
	"fmt"
	"time"

	"edgetable/core/throttle"
)

// Example limits a partition to 2000 operations per second. A batch counts as the number of its operations.
func Example() {
	clock := newClock()
	partitions := throttle.New(throttle.Options{Rate: 2000, Burst: 50, Keys: 100_000, Now: clock.now})
	fmt.Println(partitions.Take("orders/p1", 100))
	fmt.Println(partitions.Take("orders/p1", 1))
	fmt.Println(partitions.Take("orders/p2", 1))
	clock.advance(30 * time.Millisecond)
	fmt.Println(partitions.Take("orders/p1", 1))
	// Output:
	// 0s
	// 25.5ms
	// 0s
	// 0s
}
