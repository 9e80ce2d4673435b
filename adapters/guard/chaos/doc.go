// Package chaos makes a server fail on purpose, to test clients: is a request retried when it should be, is an insert
// whose reply was lost handled correctly, what does the user see while a table is slow?
//
//	rules, err := chaos.Parse("operation=InsertEntity table=orders probability=0.1 fault=503")
//	c := chaos.New(rules)
//	handler.Gate = c
//	handler.Service = table.New(c.Store(store), …)
//
// # Rules
//
// A rule consists of words key=value, separated by spaces; rules are separated by semicolons or line ends. The words
// say which requests a rule matches, which of these requests it affects, and what it does to them. A value that has
// blanks, semicolons or quotes is written as a string of Go, in double quotes.
//
//	account=name         the account
//	operation=list       operations, in any case: names such as InsertEntity, read,
//	                     write, or a pattern such as *Entity; separated by commas
//	table=pattern        the table, in any case
//	partition=pattern    the PartitionKey; queries have none and do not match
//
//	probability=0.1      affects a matching request with this probability …
//	seed=7               … by a generator of random numbers with this seed (default 1)
//	every=3              affects the third matching request, and each third one after it
//	count=2              affects two matching requests, and no later ones
//
//	latency=200ms        waits that long; 50ms-500ms is a random time between the two
//	fault=500            answers InternalError without carrying out the request
//	fault=503            answers ServerBusy without carrying out the request
//	fault=reset          closes the connection without carrying out the request
//	fault=lost-reply     carries out the request, and then closes the connection
//	being-deleted=30s    when a table is deleted, its name cannot be used again for that long
//
// In a pattern, * stands for any characters. A rule without operation, table, partition or account matches every
// request. One rule may have both latency and fault.
//
// The rules are tried in order. The latencies of all rules that affect the request add up, until a rule causes a fault.
// Later rules are not tried.
package chaos
