package dynamodb_test

import (
	"encoding/json"
	"math"
)

// ruled computes the capacity that a transaction or a refused write consumes under
// DynamoDB's published rules. A write takes one unit per kilobyte, rounded up, of each
// item that was written or found, and a transaction twice as much. DynamoDB Local counts
// these calls differently.
func ruled(body, answer []byte) (units float64) {
	type write struct{ Item map[string]any }
	var in struct{ TransactItems []map[string]write }
	var out struct {
		Item                map[string]any
		CancellationReasons []struct{ Item map[string]any }
	}
	_, _ = json.Unmarshal(body, &in), json.Unmarshal(answer, &out)
	if in.TransactItems == nil {
		return math.Ceil(max(1, itemSize(out.Item)) / 1024)
	}
	for i, action := range in.TransactItems {
		size := 1.0
		for _, w := range action {
			size = max(size, itemSize(w.Item))
		}
		if i < len(out.CancellationReasons) {
			size = max(size, itemSize(out.CancellationReasons[i].Item))
		}
		units += 2 * math.Ceil(size/1024)
	}
	return units
}

func itemSize(item map[string]any) (size float64) {
	for name, v := range item {
		size += float64(len(name)) + valueSize(v.(map[string]any))
	}
	return size
}

func valueSize(v map[string]any) float64 {
	for kind, v := range v {
		switch kind {
		case "S":
			return float64(len(v.(string)))
		case "B":
			return float64(len(v.(string)) / 4 * 3)
		case "N":
			return float64(len(v.(string))/2 + 1)
		case "M":
			return 3 + itemSize(v.(map[string]any))
		}
	}
	return 1
}

func consumed(raw json.RawMessage) (units float64) {
	type capacity struct{ CapacityUnits float64 }
	var one capacity
	var list []capacity
	if json.Unmarshal(raw, &one) != nil {
		_ = json.Unmarshal(raw, &list) // raw may be one capacity or a list; if it is neither, the capacity counts as 0
	}
	for _, c := range append(list, one) {
		units += c.CapacityUnits
	}
	return units
}
