package dynamodb

import (
	"context"
	"strconv"
	"time"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/core/edm"
	"edgetable/core/table"
)

var upkeepHash = []byte{kindUpkeep}

func upkeepKey(t table.RecordKey) item { return call.Key(upkeepHash, []byte(t.String())) }

// ReadUpkeep implements [table.Sharing].
func (s *Store) ReadUpkeep(ctx context.Context, t table.RecordKey) (due edm.Ticks, state []byte, err error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer cancel()
	it, err := s.db.Get(ctx, upkeepKey(t), table.Strong)
	if err != nil || it == nil {
		return 0, nil, err
	}
	n, err := strconv.ParseInt(attribute.Digits(it[attrDue]), 10, 64)
	if err != nil {
		return 0, nil, errItem
	}
	return edm.Ticks(n), attribute.Bytes(it[attrState]), nil
}

// SetUpkeep implements [table.Sharing]. If the reply is lost, it returns an error, although the write may have been
// applied. In this case, no process removes expired entities of the table until the time in the parameter claimedUntil.
func (s *Store) SetUpkeep(ctx context.Context, t table.RecordKey, oldDue, claimedUntil edm.Ticks, state []byte) (set bool, err error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	defer cancel()
	it := upkeepKey(t)
	it[attrDue], it[attrState] = attribute.Number(claimedUntil), attribute.Binary(state)
	var e call.Expression
	if oldDue == 0 {
		e.IfMissing(attrDue)
	} else {
		e.If(attrDue, "=", ":u", attribute.Number(oldDue))
	}
	err = s.db.Write(ctx, call.Once, s.db.Put(it, &e))
	if call.ClassOf(err) == call.Conditional {
		return false, nil
	}
	return err == nil, err
}

// restEach determines the pause after a removal of expired entities: for each restEach bytes that were read, the pause
// is an hour longer. Reading 1 GiB once a day costs about $0.03.
const restEach = 32 << 20

// RestUpkeep implements [table.Sharing]. It returns a pause of 1 to 24 hours, depending on the size of all entities
// that were read, because reading live entities costs as much as reading expired entities.
func (s *Store) RestUpkeep(scanned int) edm.Ticks {
	hours := min(1+scanned/restEach, 24)
	return edm.Ticks(time.Duration(hours) * time.Hour / 100)
}

var declaring = &call.Filter{Text: "attribute_exists(#l)", Names: map[string]string{"#l": attrTraits}}

// Declared returns the tables of all accounts that have options, such as an expiry rule.
func (s *Store) Declared(ctx context.Context) (list []table.Name, err error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	for first := []byte{0}; ; {
		found, err := s.db.Query(ctx, call.Query{Hash: recordHash, First: first, Rows: 1000, Filter: declaring})
		if err != nil {
			return nil, err
		}
		records, err := liveRecords(found.Items)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			list = append(list, table.Name(r.Key))
		}
		if found.Next == nil {
			return list, nil
		}
		first = append(found.Next, 0)
	}
}
