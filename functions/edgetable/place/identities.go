package place

import (
	"filippo.io/age"

	"edgetable/adapters/backup/repository/encryption"
	"edgetable/functions/edgetable/cli"
)

// ReadIdentities is like [encryption.ReadIdentities], but fails if other users can read the file. If file is "", it
// returns no identities.
func ReadIdentities(file string) ([]age.Identity, error) {
	if file == "" {
		return nil, nil
	}
	if err := cli.CheckPrivate(file); err != nil {
		return nil, err
	}
	return encryption.ReadIdentities(file)
}
