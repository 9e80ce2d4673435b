package protocol_test

import (
	"strings"
	"testing"

	"edgetable/core/wiretest"
)

// TestPropertiesOfLaterVersion checks that Set Table Service Properties keeps elements in the account's
// settings that a later version of this program stored there.
func TestPropertiesOfLaterVersion(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const later = "<Later><Days>7</Days></Later>"
	err := s.Service.UpdateAccountSettings(t.Context(), wiretest.Account, func([]byte) ([]byte, error) {
		return []byte("<StorageServiceProperties><Cors />" + later + "</StorageServiceProperties>"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.admit(t, "https://new")
	stored, err := s.Service.AccountSettings(t.Context(), wiretest.Account)
	if err != nil || !strings.Contains(string(stored), later) || !strings.Contains(string(stored), "https://new") {
		t.Errorf("the settings are %s, %v", stored, err)
	}
}
