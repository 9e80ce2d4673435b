package remote

import "time"

// SetPatience sets how long a client repeats a request.
func SetPatience(c *Client, d time.Duration) { c.patience = d }
