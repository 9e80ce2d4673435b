//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// silentIssuer returns the URL of a token issuer that never responds.
func silentIssuer() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		var open []net.Conn // kept in a list, because the garbage collector would close connections that nothing refers to
		for {
			c, err := l.Accept()
			if err != nil {
				runtime.KeepAlive(open)
				return
			}
			open = append(open, c)
		}
	}()
	return "http://" + l.Addr().String(), nil
}

// certify makes a TLS certificate for the server.
func (s *server) certify() (certificate, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 0, 30), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	dir := s.dir + ".tls" // not in the data directory, where the server permits no other files
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", "", err
	}
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return "", "", err
	}
	s.tls = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // it is ours
	return certificate, key, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}
