// Package event names what an [example.com/prospectkit.Event] and an [example.com/prospectkit.Attempt] say: the kinds of events, what
// is known about the delivery of an attempt, and what in a response is undocumented.
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

	// KindUndocumented follows an attempt whose response held something undocumented. A client and
	// those derived from it report each such thing once. They examine the first responses of an
	// operation, and some of the later ones.
	KindUndocumented Kind = "undocumented"
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

// Undocumented is something in a response that is not documented for this version of the module: a
// sign that the service has changed. It never holds what users wrote: rows, profiles and partly
// documented objects are not examined for fields.
type Undocumented struct {
	Kind  UndocumentedKind
	Name  string // of a header, a code, or a field with its path, such as "list.entityType"; empty unless plain
	Value string // of an enumeration; empty unless a plain name
}

// UndocumentedKind says what is undocumented.
type UndocumentedKind string

// The kinds of undocumented things.
const (
	UndocumentedField   UndocumentedKind = "field"   // of an object that is fully documented
	UndocumentedValue   UndocumentedKind = "value"   // of an enumeration
	UndocumentedCode    UndocumentedKind = "code"    // of an error
	UndocumentedHeader  UndocumentedKind = "header"  // about rate limits, or Deprecation or Sunset
	UndocumentedMissing UndocumentedKind = "missing" // what was asked for, or an assumed field, is not where it is assumed to be: in a listing, in no element of a page
)
