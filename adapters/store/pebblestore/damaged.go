package pebblestore

// ErrDamaged means that the directory cannot be opened as it is, and that another try
// does not help. ErrLost is one kind of it.
var ErrDamaged = errDamaged
