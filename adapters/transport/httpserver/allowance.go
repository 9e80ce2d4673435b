package httpserver

import "time"

const (
	// fullAllowance is the initial and maximum allowance.
	fullAllowance = 15 * time.Second
	// leastRate is the minimum average rate of a client, in bytes per second.
	leastRate = 16 << 10
)

// allowance is the remaining time that the server waits for a client. Waiting reduces the allowance, and each byte that
// the client sends or receives increases it. This rule applies to headers, bodies and responses of any length. It
// disconnects clients that send nothing and clients that are too slow.
type allowance time.Duration

// spend subtracts the time of a wait from the allowance, and adds the time that the transferred bytes take at the
// minimum rate.
func (p *allowance) spend(waited time.Duration, bytes int) {
	restored := time.Duration(bytes) * (time.Second / leastRate)
	*p = min(*p-allowance(waited)+allowance(restored), allowance(fullAllowance))
}
