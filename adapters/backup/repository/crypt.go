package repository

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

func encrypt(b []byte, to []age.Recipient) ([]byte, error) {
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

func decrypt(b []byte, with []age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(b), with...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
