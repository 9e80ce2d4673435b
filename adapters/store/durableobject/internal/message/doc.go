// Package message is what Workers and Durable Objects say to each other: the
// codec of both sides.
//
// A message is
//
//	version (1 byte) · operation (1 byte) · its fields
//
// and its answer
//
//	version (1 byte) · status (1 byte) · its fields
//
// where a field is a fixed number of bytes (big-endian), a uvarint, or a uvarint
// length and bytes. A message that writes begins with an [Attempt] of fixed
// length, so that it can be sent again with another age ([Stamp]).
//
// Only our own Workers and objects can send one, but for minutes of a deployment
// they may be of different versions: who gets a version or an operation that it
// does not know answers [Foreign] and does nothing, which its sender takes as
// "try again later". So a field is never added to a message in place: the
// version changes, and the object understands both for a while. Bytes that make
// no sense are an error, never a panic.
//
// What is decoded shares the memory of the message.
package message
