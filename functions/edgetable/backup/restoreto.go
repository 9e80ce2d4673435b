package backup

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/transport/httpserver"
	"edgetable/core/accounts"
	"edgetable/core/protocol"
	"edgetable/functions/edgetable/client"
	"edgetable/functions/edgetable/stores"
)

// restoreTo brings the entities of a table in a backup to a service. It serves the
// restored table on loopback for the time of a copy, so the service need not know of
// backups.
func (p *program) restoreTo(ctx context.Context, location string, o *restoring) (err error) {
	beside, err := os.MkdirTemp("", "edgetable-restore-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(beside)) }()
	dir := filepath.Join(beside, "table")
	if err := p.backupRestore(ctx, location, dir, o); err != nil {
		return err
	}
	from, stop, err := serveRestored(dir, o.account)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return client.Copy(ctx, p.Terminal, &client.CopyFlags{
		ServiceFlags: client.ServiceFlags{Name: from, Profiles: o.profiles, Connections: 16, Writes: true},
		To:           o.to, Mode: o.mode, RowFlags: client.RowFlags{Rejects: o.rejects, Journal: filepath.Join(beside, "journal")},
	}, []string{o.table})
}

// serveRestored serves a data directory on loopback, with a key that only this process
// knows, until stop.
func serveRestored(dir, account string) (connection string, stop func() error, err error) {
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	if err != nil {
		return "", nil, err
	}
	secret := make([]byte, 32)
	_, _ = cryptorand.Read(secret) // which cannot fail
	key := base64.StdEncoding.EncodeToString(secret)
	list, err := accounts.Parse(account + ":" + key)
	if err != nil {
		return "", nil, errors.Join(err, store.Close())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(err, store.Close())
	}
	server := httpserver.Server{
		Log: slog.New(slog.DiscardHandler), Grace: time.Second,
		Handler: &httpserver.Handler{Protocol: &protocol.Handler{
			Service: stores.NewService(store, 0), Accounts: list.Find, Now: stores.Now, NewID: protocol.RandomID(rand.Uint64),
			WithTimeout: context.WithTimeout, PathStyle: true,
		}},
	}
	serving, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(serving, l) }()
	connection = fmt.Sprintf("TableEndpoint=http://%s/%s;AccountName=%s;AccountKey=%s", l.Addr(), account, account, key)
	return connection, func() error {
		end()
		if err := <-ended; err != nil {
			return err // a request may still use the store
		}
		return store.Close()
	}, nil
}
