package protocol

import (
	"edgetable/core/address"
	"edgetable/core/sas"
	"edgetable/core/table"
	"edgetable/core/version"
)

// operations lists all operations. The first entry that matches serves a request. The variable is set in init, because
// the handler of batches refers to it.
var operations []operation

func init() {
	operations = []operation{
		{resource: address.OneEntity, verb: get, name: "GetEntity", right: sas.QueryEntities, audience: readers, run: (*call).getEntity},
		{resource: address.EntitySet, verb: get, name: "QueryEntities", right: sas.QueryEntities, audience: readers, run: (*call).queryEntities},
		{resource: address.EntityCount, verb: get, name: "CountEntities", right: sas.QueryEntities, audience: readers, otherFormat: true, run: (*call).countEntities},
		{resource: address.EntitySet, verb: post, name: "InsertEntity", right: sas.InsertEntity, write: true, action: table.Insert, run: (*call).writeEntity},
		{resource: address.OneEntity, verb: put, ifMatch: true, name: "UpdateEntity", right: sas.UpdateEntity, write: true, action: table.Update, run: (*call).writeEntity},
		{resource: address.OneEntity, verb: put, name: "InsertOrReplaceEntity", right: sas.UpsertEntity, since: version.Upsert, write: true, action: table.InsertOrReplace, run: (*call).writeEntity},
		{resource: address.OneEntity, verb: merge | patch, ifMatch: true, name: "MergeEntity", right: sas.UpdateEntity, write: true, action: table.MergeEntity, run: (*call).writeEntity},
		{resource: address.OneEntity, verb: merge | patch, name: "InsertOrMergeEntity", right: sas.UpsertEntity, since: version.Upsert, write: true, action: table.InsertOrMerge, run: (*call).writeEntity},
		{resource: address.OneEntity, verb: del, name: "DeleteEntity", right: sas.DeleteEntity, write: true, action: table.DeleteEntity, run: (*call).writeEntity},
		{resource: address.Batch, verb: post, name: "EntityGroupTransaction", write: true, otherFormat: true, inParts: true, run: (*call).serveBatch},

		{resource: address.TableSet, verb: get, name: "QueryTables", right: sas.QueryTables, audience: readers, run: (*call).queryTables},
		{resource: address.TableSet, verb: post, name: "CreateTable", right: sas.CreateTable, write: true, run: (*call).createTable},
		{resource: address.OneTable, verb: get, name: "GetTable", right: sas.QueryTables, audience: readers, run: (*call).getTable},
		{resource: address.OneTable, verb: del, name: "DeleteTable", right: sas.DeleteTable, write: true, run: (*call).deleteTable},
		{resource: address.TableACL, verb: get | head, name: "GetTableACL", right: sas.TableACL, audience: owners, since: version.SAS, otherFormat: true, run: (*call).getACL},
		{resource: address.TableACL, verb: put, name: "SetTableACL", right: sas.TableACL, audience: owners, since: version.SAS, write: true, otherFormat: true, run: (*call).setACL},

		{resource: address.TableOptions, verb: get, name: "GetTableOptions", audience: owners, otherFormat: true, run: (*call).getOptions},
		{resource: address.TableOptions, verb: put, name: "SetTableOptions", audience: owners, write: true, otherFormat: true, run: (*call).setOptions},
		{resource: address.TableChanges, verb: get, name: "GetTableChanges", right: sas.QueryEntities, audience: readers, otherFormat: true, run: (*call).getChanges},
		{resource: address.TableTraffic, verb: get, name: "GetTableTraffic", audience: owners, otherFormat: true, run: (*call).getTraffic},
		{resource: address.TableRestore, verb: post, name: "RestoreTable", audience: owners, write: true, otherFormat: true, run: (*call).restoreTable},

		{resource: address.Metadata, verb: get, name: "GetMetadata", right: sas.QueryTables, audience: readers, otherFormat: true, run: (*call).getMetadata},
		{resource: address.ServiceProperties, verb: get, name: "GetServiceProperties", right: sas.GetServiceProperties, otherFormat: true, run: (*call).getProperties},
		{resource: address.ServiceProperties, verb: put, name: "SetServiceProperties", right: sas.SetServiceProperties, write: true, otherFormat: true, run: (*call).setProperties},
		{resource: address.ServiceStats, verb: get, name: "GetServiceStats", right: sas.GetServiceStats, audience: readers, since: version.JSON, otherFormat: true, run: (*call).getStats},
		{resource: address.DelegationKey, verb: post, name: "GetUserDelegationKey", right: sas.GetUserDelegationKey, audience: users, since: sas.DelegationVersion, otherFormat: true, run: (*call).getDelegationKey},
	}
}

// Operations returns the names of all operations that the handler submits to a [Gate].
func Operations() []string {
	names := make([]string, len(operations))
	for i := range operations {
		names[i] = operations[i].name
	}
	return names
}

// find sets c.operation and checks that the request may run it. It also sets c.prefer, because error responses repeat
// the preference in their headers.
func (c *call) find() error {
	for i := range operations {
		op := &operations[i]
		if op.resource == c.route.Resource && op.verb&c.verb != 0 && (!op.ifMatch || c.header.Get("If-Match") != "") {
			c.operation = op
			return c.check()
		}
	}
	if c.route.Resource == address.Root {
		return table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. The URL names no resource: add /Tables or the name of a table.")
	}
	return table.MethodNotAllowed.Err()
}

func (c *call) check() error {
	op := c.operation
	switch {
	case op.inParts:
		return nil
	case op.write && c.address.Secondary:
		return table.InsufficientAccountPermissions.Err()
	}
	if op.write && !op.otherFormat {
		c.prefer = c.preference()
	}
	if err := c.authority.allow(op.right, op.audience, c.route.Table); err != nil {
		return err
	}
	switch {
	case !op.otherFormat && c.FormatErr != nil:
		return c.FormatErr
	case !op.otherFormat && !op.write && c.Unasked && c.part == nil && c.Version >= version.AtomEnd:
		return table.AtomFormatNotSupported.With(table.AtomFormatNotSupported.Err().Message + " The request has no Accept header: send Accept: application/json.")
	case c.Version == "" || c.Version >= op.since:
		return nil
	case op.since == version.Upsert: // the request is a PUT or MERGE without If-Match
		return table.InvalidInput.With("If-Match HTTP header must be specified for PUT and MERGE operations before version " + version.Upsert + ".")
	}
	return table.InvalidHeaderValue.With("The value for one of the HTTP headers is not in the correct format. This operation needs x-ms-version " + op.since + " or later.")
}
