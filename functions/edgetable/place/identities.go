package place

import (
	"filippo.io/age"

	"edgetable/adapters/backup/repository/encryption"
	"edgetable/functions/edgetable/cli"
)

// ReadIdentities is [encryption.ReadIdentities] for a file that other users must not be able to read. If the parameter file
// is "", it returns no keys.
func ReadIdentities(file string) ([]age.Identity, error) {
	if file == "" {
		return nil, nil
	}
	if err := cli.CheckPrivate(file); err != nil {
		return nil, err
	}
	return encryption.ReadIdentities(file)
}
