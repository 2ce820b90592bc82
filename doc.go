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
// A [Client] has one field per part of the service, such as [Client.Lists]. Make one client and share it: it is safe for
// concurrent use. Every method takes a context, ids, one struct of parameters whose zero value means defaults, and options.
// [Operations] lists all operations with routes, scopes, limits and costs.
//
// Where the service's public API description shows no fields, a body is [Fields] that you supply and a response is an
// [Object]. Comments call that undocumented.
//
// # Errors
//
// Match errors by code or class:
//
//	_, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
//	switch {
//	case errors.Is(err, prospectkit.ErrOutcomeUnknown):      // it may have happened: do not repeat it
//	case errors.Is(err, prospectkit.CodeListNameTaken):      // the name is in use
//	case errors.Is(err, prospectkit.ErrInsufficientCredits): // nothing was billed
//	}
//
// [OutcomeOf] tells whether the call was applied, [AdviceOf] what to do next. [OutcomeUnknownError.Resolve] reads what
// became of a write whose response was lost.
//
// # Retries
//
// Reads are retried with backoff. Any call is retried after a 429 and when nothing was sent. A write that may have arrived
// is retried only if [AllowRetryUnknown] allows it, and a read that may have been paid for never. [ListsService.Ensure] and [AgentsService.CreateAndStart]
// get to their goal despite lost responses. [ReadOnly], [NoSpend] and [NoSend] refuse calls that could do harm.
//
// Calls queue for the rate limit of the workspace: see [Budget]. A wait that would outlast the context or [WithMaxWait]
// fails at once with a [*WaitError].
//
// # Iterators
//
// Iterators request pages as the loop needs them. An error comes once and last. [WithProgress] gives a checkpoint for
// [ResumeFrom]. Searches demand a cap on paid pages: [MaxPaidPages].
//
// # Testing
//
// Package [example.com/prospectkit/sandbox] is the service for your tests, with faults, credits and virtual time.
package prospectkit
