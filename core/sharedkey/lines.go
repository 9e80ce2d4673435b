package sharedkey

import "crypto/subtle"

// A shared access signature (SAS) signs a list of lines with an account key. This package does not interpret the lines.

// SignLines returns the base64 signature over the given lines, joined by line feeds.
func (k *Key) SignLines(lines []string) string {
	w := k.signer()
	defer k.release(w)
	w.appendLines(lines)
	return string(w.sign(w.buf))
}

// VerifyLines reports, in constant time, whether the text is the base64 signature over the given lines, joined by line
// feeds. The lines must not contain line feeds.
func (k *Key) VerifyLines(signature string, lines []string) bool {
	w := k.signer()
	defer k.release(w)
	w.appendLines(lines)
	return w.isSignature(signature)
}

// VerifyLines reports whether one of the account's keys made the signature; see [Key.VerifyLines].
func (a *Account) VerifyLines(signature string, lines []string) bool {
	for _, k := range a.Keys {
		if k != nil && k.VerifyLines(signature, lines) {
			k.MarkUsed()
			return true
		}
	}
	return false
}

func (w *signer) appendLines(lines []string) {
	for i, line := range lines {
		if i > 0 {
			w.buf = append(w.buf, '\n')
		}
		w.buf = append(w.buf, line...)
	}
}

// isSignature reports whether the argument is the signature of the text in w.buf.
func (w *signer) isSignature(signature string) bool {
	if len(signature) != textSize {
		return false
	}
	// The comparison needs the signature as bytes. Appending it to the buffer avoids an allocation, and is safe because
	// a signature is not secret.
	n := len(w.buf)
	w.buf = append(w.buf, signature...)
	return subtle.ConstantTimeCompare(w.sign(w.buf[:n]), w.buf[n:]) == 1
}
