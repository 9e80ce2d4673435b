//go:build !unix

package account

// lockDir does nothing: the system has no locks of directories.
func lockDir(string) (unlock func()) { return func() {} }
