package payload

import (
	"edgetable/core/edm"
	"edgetable/core/table"
)

// AppendEntity appends a body with a single entity.
func (v *View) AppendEntity(dst []byte, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	if v.Format == Atom {
		return v.atomEntity(v.atomRoot(dst, "<entry"), pk, rk, ts, p)
	}
	dst = v.jsonRoot(append(dst, '{'), "/@Element")
	return v.jsonEntity(dst, pk, rk, ts, p)
}

// AppendFeedStart begins a list of entities or tables.
func (v *View) AppendFeedStart(dst []byte) []byte {
	if v.Format == Atom {
		return v.atomFeed(dst)
	}
	dst = v.jsonRoot(append(dst, '{'), "")
	return append(dst, `"value":[`...)
}

// AppendFeedEntity appends an entity to a feed. i is its index in the feed.
func (v *View) AppendFeedEntity(dst []byte, i int, pk, rk string, ts edm.Ticks, p edm.Properties) []byte {
	if v.Format == Atom {
		return v.atomEntity(append(dst, "<entry"...), pk, rk, ts, p)
	}
	if i > 0 {
		dst = append(dst, ',')
	}
	return v.jsonEntity(append(dst, '{'), pk, rk, ts, p)
}

// AppendFeedEnd ends a feed that [View.AppendFeedStart] began.
func (v *View) AppendFeedEnd(dst []byte) []byte {
	if v.Format == Atom {
		return atomFeedEnd(dst)
	}
	return append(dst, "]}"...)
}

// AppendTable appends a body with a single table. View.Table must be "Tables".
func (v *View) AppendTable(dst []byte, name string) []byte {
	if v.Format == Atom {
		return v.atomTable(v.atomRoot(dst, "<entry"), name)
	}
	dst = v.jsonRoot(append(dst, '{'), "/@Element")
	return v.jsonTable(dst, name)
}

// AppendFeedTable appends a table to a feed. i is its index in the feed. View.Table must be "Tables".
func (v *View) AppendFeedTable(dst []byte, i int, name string) []byte {
	if v.Format == Atom {
		return v.atomTable(append(dst, "<entry"...), name)
	}
	if i > 0 {
		dst = append(dst, ',')
	}
	return v.jsonTable(append(dst, '{'), name)
}

// AppendError appends the body of an error response. now is the time of the response.
func (f Format) AppendError(dst []byte, e *table.Error, requestID string, now edm.Ticks) []byte {
	if f == Atom {
		return atomError(dst, e, requestID, now)
	}
	return jsonError(dst, e, requestID, now)
}
