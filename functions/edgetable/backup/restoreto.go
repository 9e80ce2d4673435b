package backup

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"

	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/transport/inprocess"
	"edgetable/core/accounts"
	"edgetable/core/protocol"
	"edgetable/functions/edgetable/client"
	"edgetable/functions/edgetable/stores"
)

// restoreTo copies the entities of a table from a backup to a table service. It first restores the table to a temporary
// store, so the service needs no support for backups.
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
	from, way, end, err := openRestored(dir, o.account)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return client.Copy(ctx, p.Terminal, &client.CopyFlags{
		ServiceFlags: client.ServiceFlags{Name: from, Profiles: o.profiles, Connections: 16, Writes: true, Way: way},
		To:           o.to, Mode: o.mode, RowFlags: client.RowFlags{Rejects: o.rejects, ProgressFile: filepath.Join(beside, "progress")},
	}, []string{o.table})
}

// openRestored opens a data directory and returns a connection string that works only in this process. The account
// has a new random key.
func openRestored(dir, account string) (connection string, way http.RoundTripper, end func() error, err error) {
	secret := make([]byte, 32)
	_, _ = cryptorand.Read(secret)
	key := base64.StdEncoding.EncodeToString(secret)
	list, err := accounts.Parse(account + ":" + key)
	if err != nil {
		return "", nil, nil, err
	}
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	if err != nil {
		return "", nil, nil, err
	}
	connection = fmt.Sprintf("TableEndpoint=http://the-backup/%s;AccountName=%s;AccountKey=%s", account, account, key)
	return connection, inprocess.RoundTripper{Protocol: &protocol.Handler{
		Service: stores.NewService(store, 0), Accounts: list.Find, Now: stores.Now, NewID: protocol.RandomID(rand.Uint64),
		WithTimeout: context.WithTimeout, PathStyle: true,
	}}, store.Close, nil
}
