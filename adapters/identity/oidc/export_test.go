package oidc

// The limits that tests go up to.
const (
	Pause       = pause
	Retry       = retry
	Refresh     = refresh
	Hold        = hold
	MaxDocument = maxDocument
	MaxKeys     = maxKeys
	MaxVerified = maxVerified
)

// Remembered is how many tokens the verifier remembers.
func Remembered(v *Verifier) int {
	v.keyring.mu.Lock()
	defer v.keyring.mu.Unlock()
	list := &v.keyring.held.verified
	list.mu.RLock()
	defer list.mu.RUnlock()
	return len(list.list)
}

// Forget makes the verifier forget the tokens it remembers.
func Forget(v *Verifier) {
	v.keyring.mu.Lock()
	defer v.keyring.mu.Unlock()
	if k := v.keyring.held; k != nil {
		v.keyring.held = &keys{list: k.list, at: k.at}
	}
}
