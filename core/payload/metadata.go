package payload

import "edgetable/core/xml"

// AppendMetadata appends the $metadata document, which is the schema of an account.
func AppendMetadata(dst []byte, account string, tables []string) []byte {
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
