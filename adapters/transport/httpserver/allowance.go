package httpserver

import "time"

const (
	// fullAllowance is how long a client may send or take nothing while the other side
	// waits for it.
	fullAllowance = 15 * time.Second
	// leastRate is the bytes per second that a client has to send or take in the long run.
	leastRate = 16 << 10
)

// allowance is how long the server goes on to wait for a client. Waiting uses it up, and
// each byte that the client sends or takes restores some of it. So one rule stops clients
// that do nothing and those that do next to nothing, for headers, bodies and answers of
// any length.
type allowance time.Duration

// spend takes the time of a wait in which so many bytes made progress.
func (p *allowance) spend(waited time.Duration, bytes int) {
	restored := time.Duration(bytes) * (time.Second / leastRate)
	*p = min(*p-allowance(waited)+allowance(restored), allowance(fullAllowance))
}
