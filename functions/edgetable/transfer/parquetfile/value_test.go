package parquetfile

import (
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"edgetable/core/edm"
)

// TestReadColumn checks that values of other programs either keep their unit or are refused. A time of
// day or a duration must not become a number without a unit.
func TestReadColumn(t *testing.T) {
	t.Parallel()
	guid := "0123456789abcdef"
	for _, tt := range []struct {
		why   string
		node  parquet.Node
		span  unit
		want  edm.Type
		value parquet.Value
		text  string // expected value, or part of the expected error
	}{
		{"a time of day", parquet.Time(parquet.Microsecond), none, edm.TypeString, parquet.Int64Value(3_723_000_000), "01:02:03"},
		{"with a fraction", parquet.Time(parquet.Millisecond), none, edm.TypeString, parquet.Int32Value(3_723_040), "01:02:03.04"},
		{"in nanoseconds", parquet.Time(parquet.Nanosecond), none, edm.TypeString, parquet.Int64Value(1), "00:00:00.000000001"},
		{"as a number", parquet.Time(parquet.Microsecond), none, edm.TypeInt64, parquet.Int64Value(1), "is a time of day"},
		{"without a type", parquet.Time(parquet.Microsecond), none, edm.TypeNull, parquet.Int64Value(1), "is a time of day"},
		{"a duration", parquet.Leaf(parquet.Int64Type), 1e3, edm.TypeString, parquet.Int64Value(5_000_000), "PT5S"},
		{"of hours", parquet.Leaf(parquet.Int64Type), 1e6, edm.TypeString, parquet.Int64Value(3_723_500), "PT1H2M3.5S"},
		{"of nothing", parquet.Leaf(parquet.Int64Type), 1, edm.TypeString, parquet.Int64Value(0), "PT0S"},
		{"back in time", parquet.Leaf(parquet.Int64Type), 1e9, edm.TypeString, parquet.Int64Value(-60), "-PT1M"},
		{"of a thousand years", parquet.Leaf(parquet.Int64Type), 1e9, edm.TypeString, parquet.Int64Value(1000 * 365 * 86400), "more than 292 years"},
		{"a duration as a number", parquet.Leaf(parquet.Int64Type), 1e3, edm.TypeInt64, parquet.Int64Value(1), "is a duration"},
		{"an interval", parquet.Leaf(parquet.FixedLenByteArrayType(12)), interval, edm.TypeString, parquet.FixedLenByteArrayValue(make([]byte, 12)), "is an interval"},
		{"a large unsigned number", parquet.Uint(64), none, edm.TypeString, parquet.Int64Value(-1), "18446744073709551615"},
		{"as a Double", parquet.Uint(64), none, edm.TypeDouble, parquet.Int64Value(-1), "1.8446744073709552E+19"},
		{"as an Int64", parquet.Uint(64), none, edm.TypeInt64, parquet.Int64Value(-1), "--types with String or Double keeps it"},
		{"a UUID whose length is forgotten", parquet.Leaf(parquet.ByteArrayType), none, edm.TypeGuid, parquet.ByteArrayValue([]byte(guid)), "30313233-3435-3637-3839-616263646566"},
		{"and other bytes", parquet.Leaf(parquet.ByteArrayType), none, edm.TypeGuid, parquet.ByteArrayValue([]byte("x")), "not a Guid: it has 1 bytes"},
		{"a UUID of fixed length", parquet.Leaf(parquet.FixedLenByteArrayType(16)), none, edm.TypeGuid, parquet.FixedLenByteArrayValue([]byte(guid)), "30313233-3435-3637-3839-616263646566"},
	} {
		read, err := readColumn(tt.node, false, tt.span, tt.want)
		var v edm.Value
		if err == nil {
			v, err = read(tt.value)
		}
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: %v, want %s", tt.why, err, tt.text)
			}
		case v.String() != tt.text:
			t.Errorf("%s: %s, want %s", tt.why, v, tt.text)
		}
	}
}
