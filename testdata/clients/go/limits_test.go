package clients_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	many := func(count int, value any) fields {
		properties := fields{}
		for i := range count {
			properties[fmt.Sprintf("P%03d", i)] = value
		}
		return properties
	}
	for _, test := range []struct {
		name       string
		properties fields
		status     int // 0 if the service must accept the request
		code       string
	}{
		{"string of 32768 characters", fields{"A": strings.Repeat("x", 32768)}, 0, ""},
		{"string of 32769 characters", fields{"A": strings.Repeat("x", 32769)}, 400, "PropertyValueTooLarge"},
		{"binary of 65537 bytes", fields{"A": strings.Repeat("AAAA", 65535/3) + "AAA=", "A@odata.type": "Edm.Binary"}, 400, "PropertyValueTooLarge"},
		{"252 properties", many(252, 1), 0, ""},
		{"253 properties", many(253, 1), 400, "TooManyProperties"},
		{"just below 1 MiB", many(15, strings.Repeat("x", 32768)), 0, ""},
		{"above 1 MiB", many(16, strings.Repeat("x", 32768)), 400, "EntityTooLarge"},
		{"name of 256 characters", fields{strings.Repeat("n", 256): 1}, 400, "PropertyNameTooLong"},
		{"name with a dash", fields{"a-b": 1}, 400, "PropertyNameInvalid"},
		{"name with a blank", fields{"a b": 1}, 400, "PropertyNameInvalid"},
		{"name beginning with a digit", fields{"1a": 1}, 400, "PropertyNameInvalid"},
		{"int64 out of range", fields{"A": "9223372036854775808", "A@odata.type": "Edm.Int64"}, 400, "InvalidInput"},
		{"broken guid", fields{"A": "no guid", "A@odata.type": "Edm.Guid"}, 400, "InvalidInput"},
		{"broken datetime", fields{"A": "yesterday", "A@odata.type": "Edm.DateTime"}, 400, "InvalidInput"},
		{"broken binary", fields{"A": "***", "A@odata.type": "Edm.Binary"}, 400, "InvalidInput"},
		{"datetime before 1601", fields{"A": "1600-12-31T23:59:59Z", "A@odata.type": "Edm.DateTime"}, 400, "OutOfRangeInput"},
		{"array", fields{"A": []int{1}}, 400, "InvalidInput"},
		{"object", fields{"A": fields{"B": 1}}, 400, "InvalidInput"},
		{"body above 4 MiB", fields{"A": strings.Repeat("x", 4<<20)}, 413, "RequestBodyTooLarge"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := client.AddEntity(t.Context(), entity(t, "p", test.name, test.properties), nil)
			if test.status != 0 {
				wantError(t, err, test.status, test.code)
				_, err = client.GetEntity(t.Context(), "p", test.name, nil)
				wantError(t, err, http.StatusNotFound, "ResourceNotFound")
				return
			}
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			if got := len(get(t, client, "p", test.name).custom()); got != len(test.properties) {
				t.Errorf("got %d properties, want %d", got, len(test.properties))
			}
		})
	}
}

// TestMergeBeyondLimits checks that the limits for a merge apply to the resulting entity, not to
// the properties in the request.
func TestMergeBeyondLimits(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	full := fields{}
	for i := range 252 {
		full[fmt.Sprintf("P%03d", i)] = i
	}
	add(t, client, "p", "r", full)
	_, err := client.UpdateEntity(t.Context(), entity(t, "p", "r", fields{"OneMore": 1}), nil)
	wantError(t, err, http.StatusBadRequest, "TooManyProperties")
	if _, err := client.UpdateEntity(t.Context(), entity(t, "p", "r", fields{"P000": "changed"}), nil); err != nil {
		t.Errorf("merge of a known property: %v", err)
	}
}

func TestLongKeys(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	for _, keys := range [][2]string{{strings.Repeat("k", 1025), "r"}, {"p", strings.Repeat("k", 1025)}} {
		_, err := client.AddEntity(t.Context(), entity(t, keys[0], keys[1], nil), nil)
		wantStatus(t, err, http.StatusBadRequest)
	}
	wantRows(t, list(t, client, nil))
}

func TestMissingKeys(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	for _, missing := range []string{"PartitionKey", "RowKey"} {
		members := fields{"PartitionKey": "p", "RowKey": "r"}
		members[missing] = nil // null, because the SDK itself refuses an entity without the key
		_, err := client.AddEntity(t.Context(), encode(t, members), nil)
		wantError(t, err, http.StatusBadRequest, "PropertiesNeedValue")
	}
}
