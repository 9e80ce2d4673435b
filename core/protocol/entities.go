package protocol

import (
	"context"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/multipart"
	"edgetable/core/negotiate"
	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/core/version"
)

// writeEntity answers POST on a table, and PUT, MERGE, PATCH or DELETE on an entity.
func (c *call) writeEntity(ctx context.Context) (answer, error) {
	op, err := c.entityOperation()
	if err != nil {
		if asError(err).Code == table.PropertiesNeedValue {
			err = c.tableFirst(ctx, err)
		}
		return answer{}, err
	}
	c.visitWrite(op)
	if err := c.checkAccess(ctx, Access{PartitionKey: op.PartitionKey, HasPartition: true, Entities: 1}); err != nil {
		return answer{}, err
	}
	ticks, err := c.Service.Write(ctx, c.name(), op)
	if err != nil {
		return answer{}, err
	}
	return c.writeAnswer(&op, ticks), nil
}

// tableFirst returns an error about the table if the table does not exist or its name is invalid. Otherwise, it returns
// its argument err. A base URL that ends with a table name causes TableNotFound.
func (c *call) tableFirst(ctx context.Context, err error) error {
	if err := table.CheckTableName(c.route.Table); err != nil {
		return err
	}
	if _, tableErr := c.Service.GetTable(ctx, c.name(), table.Strong); tableErr != nil && asError(tableErr).Code == table.ResourceNotFound {
		return table.TableNotFound.Err()
	}
	return err
}

// entityOperation decodes a write of an entity. The write may be an operation of a batch.
func (c *call) entityOperation() (op table.Operation, err error) {
	op.Action = c.operation.action
	if op.Action == table.Insert {
		err = c.readEntity(&op) // this call is not in the return statement, which might evaluate op before the call
		return op, err
	}
	op.PartitionKey, op.RowKey = c.route.PartitionKey, c.route.RowKey
	if err := c.allowEntity(op.PartitionKey, op.RowKey); err != nil {
		return op, err
	}
	if op.IfMatch, err = c.ifMatch(); err != nil || op.Action == table.DeleteEntity {
		return op, err
	}
	err = c.readEntity(&op)
	return op, err
}

// readEntity decodes the body into op. The body of an insert also contains the keys.
func (c *call) readEntity(op *table.Operation) error {
	body, format, err := c.readTypedBody()
	if err != nil {
		return err
	}
	if op.Action != table.Insert {
		read := payload.ReadUpdate
		if format == payload.Atom {
			read = payload.ReadAtomUpdate
		}
		op.Properties, err = read(body)
		return err
	}
	read := payload.ReadEntity
	if format == payload.Atom {
		read = payload.ReadAtomEntity
	}
	e, err := read(body)
	if err != nil {
		return err
	}
	op.Properties = e.Properties
	if !e.HasPartitionKey || !e.HasRowKey {
		return table.PropertiesNeedValue.Err()
	}
	op.PartitionKey, op.RowKey = e.PartitionKey, e.RowKey
	if err := c.allowEntity(op.PartitionKey, op.RowKey); err != nil {
		return err
	}
	if c.Format == payload.Atom && format != payload.Atom && c.prefer != negotiate.ReturnNoContent {
		return c.checkShowable(op)
	}
	return nil
}

// checkShowable returns an error if the format of the answer cannot represent the entity.
func (c *call) checkShowable(op *table.Operation) error {
	a, err := c.withBody(answer{}, c.entity(op.PartitionKey, op.RowKey, 0, op.Properties, nil))
	if err == nil {
		a.release()
	}
	return err
}

// preference returns the preference that applies to the answer to a write. The answer to an update or delete never
// contains the entity (docs/adr/0021).
func (c *call) preference() negotiate.Preference {
	if c.Version != "" && c.Version < version.JSON || c.verb == del {
		return negotiate.NoPreference // Prefer exists neither for DELETE nor in versions before version.JSON
	}
	p := negotiate.ParsePreference(c.header.Get("Prefer"))
	if p == negotiate.ReturnContent && c.verb != post {
		return negotiate.NoPreference
	}
	return p
}

// appendPreference appends Preference-Applied if a preference was applied.
func (c *call) appendPreference(h multipart.Header) multipart.Header {
	if p := c.prefer.String(); p != "" {
		return append(h, Field{Name: "Preference-Applied", Value: p})
	}
	return h
}

// ifMatch parses the If-Match header of a write. It returns an error if If-None-Match is present.
func (c *call) ifMatch() (m table.Match, err error) {
	// Several If-Match headers form a list, which is not a valid ETag, even if its first item is * or empty.
	ifMatch, ifNoneMatch := strings.Join(c.header.Values("If-Match"), ","), c.header.Get("If-None-Match")
	switch {
	case ifMatch != "" && ifNoneMatch != "":
		return m, table.InvalidInput.With("Both If-Match and If-None-Match HTTP headers cannot be specified at the same time. Please specify either one of the headers or none of them.")
	case ifNoneMatch != "" && c.verb == del:
		return m, table.InvalidInput.With("If-None-Match HTTP header cannot be specified for DELETE operations.")
	case ifNoneMatch != "":
		return m, table.InvalidInput.With("If-None-Match HTTP header cannot be specified for PUT operations.")
	case ifMatch == "" && c.verb == del:
		return m, table.InvalidInput.With("If-Match HTTP header must be specified for DELETE operations on this type. Send the entity's ETag, or * to delete whatever is there.")
	case ifMatch == "":
		return m, nil
	}
	return payload.ParseIfMatch(ifMatch)
}

func (c *call) entity(pk, rk string, ticks edm.Ticks, p edm.Properties, fields *payload.Projection) content {
	return content{of: c.route.Table, fields: fields, size: shownSize(p), write: func(dst []byte, v *payload.View) []byte {
		return v.AppendEntity(dst, pk, rk, ticks, p)
	}}
}

// shownSize estimates the length of an encoded entity, including the names and values that the service adds. Base64
// makes binary values a third longer.
func shownSize(p edm.Properties) int { return len(p) + len(p)*3/8 + 256 }

func (c *call) writeAnswer(op *table.Operation, ticks edm.Ticks) answer {
	if op.Action == table.DeleteEntity {
		return answer{status: 204}
	}
	etag := multipart.Header{{Name: "ETag", Value: etagText(ticks)}}
	if op.Action != table.Insert {
		return answer{status: 204, header: etag}
	}
	location := string(payload.AppendEntityURI(nil, c.base, c.route.Table, op.PartitionKey, op.RowKey))
	return c.insertAnswer(location, etag, c.entity(op.PartitionKey, op.RowKey, ticks, op.Properties, nil))
}

func etagText(t edm.Ticks) string {
	return string(payload.AppendETag(make([]byte, 0, 48), t))
}
