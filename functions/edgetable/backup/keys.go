package backup

import (
	"fmt"

	"filippo.io/age"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/place"
)

func recipientsFlag(f *pflag.FlagSet, to *[]string, name string) {
	f.StringSliceVar(to, name, nil, "age public `key` (age1…) to encrypt backups for; may be repeated; default no encryption")
}

func identityFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "identity", "", "age key `file` (made by age-keygen) with the private key of encrypted backups")
}

// identities reads the private keys in the file of the flag --identity.
func identities(file string) ([]age.Identity, error) {
	list, err := place.ReadIdentities(file)
	if err != nil {
		return nil, fmt.Errorf("--identity: %w", err)
	}
	return list, nil
}
