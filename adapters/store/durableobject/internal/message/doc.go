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
// A field is a fixed number of bytes (big-endian), a uvarint, or a uvarint length and bytes. A message is encoded once:
// the shells between Worker and object pass its bytes on, together with the address of the object. A message that
// writes begins with an [Attempt] of fixed length, so that the sender can repeat the message with another age
// ([Stamp]).
//
// Only Workers and objects of edgetable send messages, but during a deployment they may have different versions. An
// object that does not know a version or an operation does nothing and answers [Foreign], and the sender retries later.
// Never add a field to an existing message. Instead, add a version, and make the object accept both versions for a
// while. Malformed bytes are an error, never a panic.
//
// Decoded values share the memory of the message.
package message
