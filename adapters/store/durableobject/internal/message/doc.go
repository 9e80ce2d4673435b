// Package message is the codec of the messages between Workers and Durable Objects.
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
// Only our own Workers and objects send messages, but for minutes of a deployment they
// may be of different versions. A side that does not know a version or an operation
// answers [Foreign] and does nothing; its sender takes that as "try again later". So a
// field is never added to a message in place: the version changes, and the object
// understands both for a while. Malformed bytes are an error, never a panic.
//
// Decoded values share the memory of the message.
package message
