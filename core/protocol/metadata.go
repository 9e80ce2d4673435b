package protocol

import (
	"context"

	"edgetable/core/table"
	"edgetable/core/xml"
)

// getMetadata answers GET on /$metadata. Clients generated from a schema read
// it. For each table it lists only the properties that every table has.
func (c *call) getMetadata(ctx context.Context) (answer, error) {
	if err := c.admit(ctx, Access{Entities: 1}); err != nil {
		return answer{}, err
	}
	var names []string
	for q := (table.TableQuery{Top: table.MaxPageRows}); ; {
		page, err := c.Service.QueryTables(ctx, c.address.account, q)
		if err != nil {
			return answer{}, err
		}
		names = append(names, page.Names...)
		if q.From = page.Next; q.From == "" {
			break
		}
	}
	a := answer{status: 200, body: appendMetadata(nil, c.address.account, names)}
	a.header = append(a.header, Field{Name: "Content-Type", Value: "application/xml"})
	return a, nil
}

// appendMetadata appends the schema of an account.
func appendMetadata(dst []byte, account string, tables []string) []byte {
	dst = append(dst, `<?xml version="1.0" encoding="utf-8" standalone="yes"?>`+
		`<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">`+
		`<edmx:DataServices xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="1.0">`+
		`<Schema Namespace="`...)
	dst = xml.AppendAttr(dst, account)
	dst = append(dst, `" xmlns="http://schemas.microsoft.com/ado/2006/04/edm">`+
		`<EntityType Name="Tables"><Key><PropertyRef Name="TableName" /></Key>`+
		`<Property Name="TableName" Type="Edm.String" Nullable="false" /></EntityType>`...)
	for _, name := range tables {
		dst = append(dst, `<EntityType Name="`...)
		dst = append(xml.AppendAttr(dst, name), `"><Key><PropertyRef Name="PartitionKey" /><PropertyRef Name="RowKey" /></Key>`+
			`<Property Name="PartitionKey" Type="Edm.String" Nullable="false" /><Property Name="RowKey" Type="Edm.String" Nullable="false" />`+
			`<Property Name="Timestamp" Type="Edm.DateTime" Nullable="false" /></EntityType>`...)
	}
	dst = append(dst, `<EntityContainer Name="Tables" m:IsDefaultEntityContainer="true">`...)
	set := func(name string) {
		dst = append(xml.AppendAttr(append(dst, `<EntitySet Name="`...), name), `" EntityType="`...)
		dst = append(xml.AppendAttr(dst, account), '.')
		dst = append(xml.AppendAttr(dst, name), `" />`...)
	}
	set("Tables")
	for _, name := range tables {
		set(name)
	}
	return append(dst, `</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>`...)
}
