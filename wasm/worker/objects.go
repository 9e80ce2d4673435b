package main

import (
	"encoding/binary"
	"math"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/core/edm"
)

// objects contains the engines of the Durable Objects that are awake in this isolate, by the number that the shell
// assigns at each start. An engine must not be used after its object has slept.
type objects struct {
	options engine.Options
	rows    engine.Rows // the rows of the object that is running
	pieces  *buffer     // source of large blocks of memory
	awake   map[uint32]*awake
	turns   uint64
}

// awake is the engine of an object, together with the number of the object's last request.
type awake struct {
	*engine.Engine
	turn uint64
}

// maxAwake is the maximum number of engines in memory; engines may be discarded at any time.
//
// The objects of an isolate share 28 MiB: [buffer.allocateSpares] takes 12 MiB, and 256 engines take at most 9 MiB (1
// MiB, 4 MiB of statistics and 4 MiB of remembered answers).
const maxAwake = 256

// These values tell the JavaScript shell what to do after a step.
const (
	stepAnswer   = iota // send the answer
	stepRollback        // undo the transaction, then send the answer
	stepCalls           // make calls, then send the message again
)

// handle takes one step with a message to the object with the given number, in a transaction of the shell. An empty
// message is the alarm. If the previous step requested calls, again contains frames: the state of that step, then the
// answers as in [caller]. handle appends
//
//	time of the next alarm in milliseconds since 1970, a float64; 0: never
//	one byte, what the shell must do next
//	the answer; or frames: the state, then the calls as in [appendCalls]
func (o *objects) handle(dst []byte, number uint32, message []byte, again frames) []byte {
	if len(message) == 0 {
		message = engine.Alarm()
	}
	var resume *engine.Resume
	if state, answers, ok := again.next(); ok {
		resume = &engine.Resume{State: state, Answers: make([]durableobject.Answer, answers.count())}
		readAnswers(resume.Answers, answers)
	}
	start := len(dst)
	dst = append(dst, make([]byte, 9)...)
	step := o.engine(number).Handle(o.rows, message, resume, dst)
	switch {
	case len(step.Calls) > 0:
		if step.Answer != nil { // the messages of the calls are in the memory of Answer
			o.pieces.drop() // the rows that were read last are no longer needed
			dst = append(o.pieces.piece(len(dst)+4+len(step.State)+sizeOfCalls(step.Calls)), dst...)
		}
		dst = appendCalls(frames(dst).add(step.State), step.Calls)
		dst[start+8] = stepCalls
		o.pieces.recycle(step.Answer)
	case step.Rollback:
		dst = step.Answer
		dst[start+8] = stepRollback
	default:
		dst = step.Answer
		dst[start+8] = stepAnswer
	}
	if step.Alarm != 0 {
		binary.LittleEndian.PutUint64(dst[start:], math.Float64bits(unixMilli(step.Alarm)))
	}
	return dst
}

// engine returns the engine of an object, and creates it if necessary. If there are too many engines, engine first
// discards the least recently used one.
func (o *objects) engine(number uint32) *engine.Engine {
	found := o.awake[number]
	if found == nil {
		if o.awake == nil {
			o.awake = make(map[uint32]*awake)
		}
		if len(o.awake) >= maxAwake {
			o.discardOldest()
		}
		found = &awake{Engine: engine.New(o.options)}
		o.awake[number] = found
	}
	o.turns++
	found.turn = o.turns
	return found.Engine
}

func (o *objects) discardOldest() {
	oldest := uint32(0)
	for number, a := range o.awake {
		if first := o.awake[oldest]; first == nil || a.turn < first.turn {
			oldest = number
		}
	}
	o.awake[oldest].Discard()
	delete(o.awake, oldest)
}

// unixEpoch is the start of the year 1970 in ticks.
const unixEpoch = 62135596800 * edm.TicksPerSecond

func unixMilli(t edm.Ticks) float64 { return float64(t-unixEpoch) / (edm.TicksPerSecond / 1000) }
