package protocol

import (
	"strconv"

	"edgetable/core/odata"
	"edgetable/core/table"
)

// order returns the order of a query. asked is the order as text if the request asks for one;
// the answer repeats it.
func (c *call) order(filter *odata.Filter) (o odata.Order, asked string, err error) {
	text := c.header.Get("X-Edgetable-Orderby")
	switch option := c.options.orderBy; {
	case option == nil && text == "":
		return o, "", nil
	case option != nil && text != "" && *option != text:
		return o, "", table.InvalidInput.With(table.InvalidInput.Err().Message + " $orderby and " + orderHeader + " differ: send one of them.")
	case option != nil:
		text = *option
	}
	if o, err = odata.ParseOrder(text); err == nil {
		if plan := odata.MakePlan(filter); !o.Rows || plan.OnePartition() {
			return o, o.String(), nil
		}
	}
	return odata.Order{}, "", table.OrderNotAvailable.With(table.OrderNotAvailable.Err().Message + " Got " + strconv.Quote(text) +
		". Ask for PartitionKey, RowKey or for PartitionKey desc, RowKey desc. If $filter names one partition, as in PartitionKey eq 'p', ask for RowKey or RowKey desc too.")
}
