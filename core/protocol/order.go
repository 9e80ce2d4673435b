package protocol

import (
	"strconv"

	"edgetable/core/address"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// order returns the order that the client requests for a query, and its text for a header of the answer: "" if the
// client requests no order.
func (c *call) order(filter *odata.Filter) (o odata.Order, asked string, err error) {
	text := c.header.Get("X-Edgetable-Orderby")
	switch option := c.options.OrderBy; {
	case option == nil && text == "":
		return o, "", nil
	case option != nil && text != "" && *option != text:
		return o, "", table.InvalidInput.With(table.InvalidInput.Err().Message + " $orderby and " + address.OrderHeader + " differ: send only one of them.")
	case option != nil:
		text = *option
	}
	if o, err = odata.ParseOrder(text); err == nil {
		if plan := odata.MakePlan(filter); !o.Rows || plan.OnePartition() {
			return o, o.String(), nil
		}
	}
	return odata.Order{}, "", table.OrderNotAvailable.With(table.OrderNotAvailable.Err().Message + " Got " + strconv.Quote(text) +
		". Supported orders are 'PartitionKey, RowKey' and 'PartitionKey desc, RowKey desc', and also RowKey and RowKey desc if $filter names one partition, as in PartitionKey eq 'p'.")
}
