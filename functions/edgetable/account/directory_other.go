//go:build !unix

package account

// lockDir does nothing, because the operating system cannot lock directories.
func lockDir(string) (unlock func()) { return func() {} }
