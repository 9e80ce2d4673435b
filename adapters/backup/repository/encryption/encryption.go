// Package encryption encrypts the objects of a backup location for age keys. Whoever has only the public keys can write objects,
// but cannot read them.
package encryption

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
)

// ParseRecipients parses age public keys, such as age1….
func ParseRecipients(keys []string) ([]age.Recipient, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	list, err := age.ParseRecipients(strings.NewReader(strings.Join(keys, "\n")))
	if err != nil {
		return nil, errors.New("not an age public key, such as age1…; 'age-keygen -o key.txt' creates a key and prints its public key")
	}
	return list, nil
}

// ReadIdentities reads a file with age private keys.
func ReadIdentities(file string) ([]age.Identity, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := age.ParseIdentities(f)
	if err != nil {
		return nil, fmt.Errorf("%s contains no private key for age encryption: %w", file, err)
	}
	return list, nil
}

// Encrypt encrypts the content of an object, so that the owner of any one of the keys can decrypt it.
func Encrypt(b []byte, to []age.Recipient) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, len(b)+64<<10))
	w, err := age.Encrypt(out, to...)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Decrypt returns the content of an encrypted object. If none of the given keys can decrypt the object, IsLocked
// reports true for the error.
func Decrypt(b []byte, with []age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(b), with...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// IsLocked reports whether err means that an object is encrypted for a key that was not given. Such an object is not
// damaged.
func IsLocked(err error) bool { return errors.As(err, new(*age.NoIdentityMatchError)) }
