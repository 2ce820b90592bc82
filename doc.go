// Package prospectkit is a client for the Prospecting and Outreach Business API: lists and their rows, folders, agents,
// campaigns, learned facts, prospect search, contacts, imports and the account.
//
//	client, err := prospectkit.New(baseURL, token)
//	if err != nil {
//		return err
//	}
//	for list, err := range client.Lists.All(ctx, prospectkit.ListsParams{Search: "berlin"}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(list.Name, list.ContactsCount)
//	}
//
// No account is needed to try it: package [example.com/prospectkit/sandbox] is a stateful double of the service that runs in
// your process.
//
// # Calls
//
// Every method takes a context, the ids it needs, one struct of parameters whose zero value means defaults, and options for this
// one call. It returns the result and an error. What the wire said besides, [Capture] tells.
//
// # Errors
//
// Branch on the service's codes, which are errors themselves, or on classes of them:
//
//	_, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
//	switch {
//	case errors.Is(err, prospectkit.CodeListNameTaken):      // somebody has the name
//	case errors.Is(err, prospectkit.ErrOutcomeUnknown):      // it may have happened: look, do not repeat
//	case errors.Is(err, prospectkit.ErrInsufficientCredits): // nothing was billed
//	}
//
// The errors are a small family: [*Error] is an answer that was no success, or no answer to a call that surely changed nothing;
// [*OutcomeUnknownError] is a write in doubt; [*AnswerLostError] is a call that succeeded but whose answer cannot be read;
// [*WaitError] is a wait that was refused; [*RefusedError] is a call that was never sent. [OutcomeOf] sorts them all.
//
// # What is repeated and what never is
//
// A read is repeated with backoff, at most three attempts in all. Any call is repeated after a 429, once Retry-After is over, and
// when a connection trace proves that nothing was sent. A write that may have been delivered is never sent again: it returns an
// [*OutcomeUnknownError]. A wait that would outlast the context or [WithMaxWait] is refused at once.
//
// # Iterators
//
// All, Rows and their like read a page when the loop needs one, as large as the service allows, because requests are what is
// limited. Records that come twice or slip past a border while others change the collection are dealt with; [Track] reports how,
// and gives a checkpoint with which another process goes on.
//
// # What the service's document leaves open
//
// Nothing is guessed in silence. Objects whose fields are not shown keep their text: see [Row] and [Object]. Bodies whose fields
// are not shown are [Fields] that you supply. Operations whose path is assumed or missing say so in their comment and in
// [Operations]; [WithPath] sets it. [Client.Call] reaches what has no method.
package prospectkit
