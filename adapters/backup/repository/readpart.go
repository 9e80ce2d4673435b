package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"filippo.io/age"

	"edgetable/adapters/backup/repository/encryption"
	"edgetable/adapters/backup/repository/internal/seal"
	"edgetable/core/objects"
)

// readPart reads and verifies an object, and decrypts it if identities are given. The result must have size bytes,
// unless size is negative.
func readPart(ctx context.Context, place objects.Place, p Part, size int64, with []age.Identity) ([]byte, error) {
	b, err := place.Get(ctx, dataDir+p.Object)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s%s is missing", dataDir, p.Object)
	}
	if err != nil {
		return nil, err
	}
	if !intact(p.Object, b) {
		return nil, fmt.Errorf("%s%s is damaged: %w", dataDir, p.Object, seal.ErrSum)
	}
	if len(with) > 0 {
		if b, err = encryption.Decrypt(b, with); err != nil {
			return nil, fmt.Errorf("%s%s cannot be decrypted: %w", dataDir, p.Object, err)
		}
	}
	if size >= 0 && int64(len(b)) != size {
		return nil, fmt.Errorf("%s%s has %d bytes instead of %d", dataDir, p.Object, len(b), size)
	}
	return b, nil
}
