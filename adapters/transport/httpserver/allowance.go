package httpserver

import "time"

const (
	// fullAllowance is how long a client may make no progress while the server waits for it.
	fullAllowance = 15 * time.Second
	// leastRate is the minimum average rate of a client in bytes per second.
	leastRate = 16 << 10
)

// allowance is how much longer the server will wait for a client. Waiting uses it up, and each byte that the client
// sends or receives restores some of it. This single rule stops clients that do nothing and clients that are too
// slow, for headers, bodies and responses of any length.
type allowance time.Duration

// spend accounts for a wait during which bytes were transferred.
func (p *allowance) spend(waited time.Duration, bytes int) {
	restored := time.Duration(bytes) * (time.Second / leastRate)
	*p = min(*p-allowance(waited)+allowance(restored), allowance(fullAllowance))
}
