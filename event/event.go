// Package event names what an [example.com/prospectkit.Event] and an [example.com/prospectkit.Attempt] say: the kinds of events, and
// what is known about the delivery of an attempt.
package event

// Kind says what an event reports.
type Kind string

// The kinds of events. A call emits what happens when it happens.
const (
	KindStart    Kind = "start"    // the call is about to begin; only a CallHook sees it
	KindAttempt  Kind = "attempt"  // an attempt has ended
	KindDecision Kind = "decision" // the attempt was unsuccessful: what follows, and why
	KindWait     Kind = "wait"     // the call is about to wait: for a rate limit, before a retry, or between polls
	KindCall     Kind = "call"     // the call has ended, or was refused before anything was sent
)

// Delivery is what is known about the delivery of one attempt.
type Delivery string

// The deliveries, by a connection trace. After a failure of a transport without a trace, such as a
// mock, it is [DeliveryUnknown], or [DeliveryCutShort] by the upload itself.
const (
	DeliveryNotSent     Delivery = "not sent"    // no connection, or no header written
	DeliveryUnprocessed Delivery = "unprocessed" // the peer's protocol layer says that it was not processed
	DeliveryUnknown     Delivery = "unknown"     // it may have been processed
	DeliveryCutShort    Delivery = "cut short"   // the end of an upload was not sent, so it was not processed
	DeliveryConfirmed   Delivery = "confirmed"   // a complete response arrived, or an error response, even cut short
)
