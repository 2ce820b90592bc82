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
// # Calls
//
// A [Client] has one field per part of the service, such as [Client.Lists]. Share it: it is safe for concurrent use.
// Most methods take a context, ids, parameters if there is more to set, and options. [example.com/prospectkit/catalogue.Operations] lists what they call.
//
// Where the service's API description shows no fields, a body is [Fields] and a response an [Object]. Comments call this
// undocumented. Where this package or its sandbox guesses, they say assumed.
//
// # Errors
//
// Match errors by code or class:
//
//	_, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
//	switch {
//	case errors.Is(err, prospectkit.ErrOutcomeUnknown): // always first: it may have happened
//	case errors.Is(err, prospectkit.CodeListNameTaken): // the name is in use
//	case errors.Is(err, prospectkit.ErrRateLimited):    // later
//	}
//
// [OutcomeOf] tells whether the call was applied, [AdviceOf] what to do next. [OutcomeUnknownError.Resolve] reads what
// became of a write, where the API can tell.
//
// # Retries
//
// Reads are retried with backoff, paid ones only after a 500 of the service; and any call after a 429 or when nothing was
// sent, where a retry can help. A write that may have been processed is retried only if [AllowRetryUnknown] allows it.
// [ListsService.Ensure] and [AgentsService.Ensure] look first, and then may send it again. [ReadOnly], [NoSpend] and
// [NoSend] refuse calls that could do harm.
//
// Calls queue for the rate limit of the workspace: see [Budget]. A queued call whose wait would outlast the context or
// [WithMaxWait] fails with a [*RateLimitWaitError], at once if that is foreseeable.
//
// # Iterators
//
// Iterators request pages as the loop needs them. An error ends the loop, except in
// [AgentsService.WaitEach] and [ListsService.PushEach]. [WithProgress] gives a checkpoint for [ResumeFrom].
// Iterators over searches demand [MaxPaidPages] or [UnlimitedPages].
//
// # Testing
//
// Package [example.com/prospectkit/sandbox] is the service for your tests, with faults, credits and virtual time.
package prospectkit
