package durableobject_test

import (
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
)

func opOf(call durableobject.Call) message.Op {
	op, _, _ := message.Open(call.Message)
	return op
}

// If dropless is set as a source of faults, each message OpDrop is lost.
func dropless(call durableobject.Call) fate {
	if opOf(call) == message.OpDrop {
		return fate{lose: true, err: durableobject.ErrLost}
	}
	return fate{}
}

// If no work is left, alarms must stop. Only an alarm that was set just in case may ring once more.
func (c *cloud) quiet() {
	c.t.Helper()
	const later = 1 << 50
	if c.ring(c.now() + later); c.ring(c.now()+2*later) != 0 {
		c.t.Error("the alarm rings although no work is left")
	}
}

// TestNames checks the addresses of objects: the first caller creates an object at the location of
// its table.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		location string
		want     durableobject.Address
	}{
		{"", durableobject.Address{Name: "bucket/table/acct/people/4/3"}},
		{"eu", durableobject.Address{Name: "bucket/table/acct/people/4/3", Jurisdiction: "eu"}},
		{"weur", durableobject.Address{Name: "bucket/table/acct/people/4/3@weur", Hint: "weur"}},
		{"eu/weur", durableobject.Address{Name: "bucket/table/acct/people/4/3@weur", Jurisdiction: "eu", Hint: "weur"}},
		{"moon/", durableobject.Address{Name: "bucket/table/acct/people/4/3", Jurisdiction: "moon"}},
	} {
		if got := durableobject.Range(tableText, 4, 3, 0, row.location); got != row.want {
			t.Errorf("Bucket at %q: got %+v, want %+v", row.location, got, row.want)
		}
	}
	for key, want := range map[string]string{
		"table/acct/people": "catalog/acct", "settings/acct": "catalog/acct", "table/acct": "catalog/acct",
		"other/acct/x": "catalog/", "x": "catalog/",
	} {
		if got := durableobject.CatalogOf(key, "eu"); got != (durableobject.Address{Name: want, Jurisdiction: "eu"}) {
			t.Errorf("CatalogOf(%s): got %+v, want %s in eu", key, got, want)
		}
	}
}
