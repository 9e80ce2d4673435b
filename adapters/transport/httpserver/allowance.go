package httpserver

import "time"

const (
	// fullAllowance is the initial and maximum allowance.
	fullAllowance = 15 * time.Second
	// leastRate is the minimum average rate of a client, in bytes per second.
	leastRate = 16 << 10
)

// allowance is the time for which the server still waits for a client. Waiting reduces it, and each transferred byte
// increases it. A client that is silent or too slow uses up its allowance, and the server then closes the connection.
type allowance time.Duration

// subtract subtracts the time of a wait from the allowance, and adds the time that the transferred bytes take at the
// minimum rate.
func (p *allowance) subtract(waited time.Duration, bytes int) {
	restored := time.Duration(bytes) * (time.Second / leastRate)
	*p = min(*p-allowance(waited)+allowance(restored), allowance(fullAllowance))
}
