package prospectkit

import (
	"cmp"
	"context"

	"example.com/prospectkit/internal/op"
)

type service struct{ conf *config }

func do[T any](ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption) (*T, error) {
	return doExpecting(ctx, conf, o, in, opts, new(T), expected{})
}

// doExpecting makes a call of whose response, made into out, the method knows more than its type.
func doExpecting[T any](ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption, out *T, want expected) (*T, error) {
	want.out = out
	if _, err := doCall(ctx, conf, o, in, opts, want); err != nil {
		return nil, err
	}
	return out, nil
}

// doRecord makes a call whose undocumented response holds a record with the key: see recordOf. Any other response is an error.
func doRecord[T any](ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption, name, key string) (*T, error) {
	record, response := new(T), new(Object)
	want := expected{out: response}
	want.accept = func() error { return recordOf(*response, name, key, record) }
	if o.Write() {
		want.resultID = idIn(response, name, key)
	}
	if _, err := doCall(ctx, conf, o, in, opts, want); err != nil {
		return nil, err
	}
	return record, nil
}

// doChange makes a call whose success, also without a readable body, means that the record named in the path was changed. If the
// response holds the record, that is the result. Otherwise the result has only the id.
func doChange[T any](ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption, name string, record *T, id *string) (*T, error) {
	response, changed := new(Object), in.ids[0]
	want := expected{out: response}
	want.proof = func() bool { return sameID(*id, changed) }
	want.accept = func() error {
		if recordOf(*response, name, "id", record) != nil {
			_ = decodeObject(*response, record) // to keep its text
		}
		return nil
	}
	if _, err := doCall(ctx, conf, o, in, opts, want); err != nil {
		return nil, err
	}
	if response.IsZero() {
		*record = *new(T)
	}
	*id = cmp.Or(*id, changed)
	return record, nil
}

// doCall makes a call. Every request of this package goes through it, in ten steps:
//
//	 1 method     arguments, and what the response has to show   its service: lists.go and others
//	 2 options    those of the client, then of the call           call_prepare.go
//	 3 encode     arguments are checked; URL, header, body
//	 4 check      all violations at once, then the modes
//	 5 gates      EventStart; may it leave?                       call_gates.go
//	+6 permit     key, queue for the rate limit                   call_attempt.go: run is the loop
//	|7 reserve    credits once, the ticket before each attempt; has another call been made meanwhile?
//	|8 send       trace, time limit, the whole response           internal/exchange
//	|9 judge      what it is, by call_response.go; then the table call_retry.go
//	+-            another attempt?
//	10 end        outcome for guard and journal, observers        call_end.go
func doCall(ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption, want expected) (*call, error) {
	c := new(call)
	c.want, c.shape = want, cmp.Or(want.shape, o.Shape)
	err := c.prepare(ctx, conf, o, in, opts)
	c.ctx = c.emit(Event{Kind: EventStart, Start: c.began})
	over := false
	defer func() {
		if !over { // a panic or runtime.Goexit of the caller's code passes
			_ = c.deliver(c.result(nil))
		}
	}()
	if err == nil {
		err = c.mayLeave()
	}
	if err == nil {
		err = c.result(c.run())
		c.noteOutcome(err)
		c.fillInfo()
	}
	over = true
	return c, c.deliver(err)
}
