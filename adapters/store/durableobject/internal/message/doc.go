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
// A field is a fixed number of bytes (big-endian), a uvarint, or a uvarint length and bytes. A message is
// encoded once: the shells between Worker and object pass its bytes on, together with the address of the
// object. A message that writes begins with an [Attempt] of fixed length, so that the sender can repeat it
// with another age ([Stamp]).
//
// Only Workers and objects of edgetable send messages, but for the minutes of a
// deployment they may have different versions. An object that does not know a version
// or an operation answers [Foreign] and does nothing; the sender tries again later. So
// never add a field to a message in place: change the version, and let the object
// understand both for a while. Malformed bytes are an error, never a panic.
//
// Decoded values share the memory of the message.
package message
