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
// # The first day
//
//   - [New] and [FromEnv] make a [Client]. Its fields are the parts of the service, such as [Client.Lists]. Share it.
//   - [ReadOnly], [NoSpend] and [NoSend] refuse calls that could do harm. Package [example.com/prospectkit/sandbox] is the service for
//     your tests.
//   - All yields every element, Get reads one by its id. [ListsService.Rows] yields the rows of a list, [RowsOf] decodes them into your
//     own struct, [Collect] makes a slice.
//   - [MaxPaidPages] bounds what an iterator over a search spends. [WithSpendGuard] caps the credits of all calls together.
//   - [WithProgress] gives a checkpoint, from which another process continues.
//
// To write:
//
//   - Create sends its request again only if it is certain that the service did not process it.
//   - Ensure creates or finds, also after a lost response.
//   - [Once] sends a write once for a key, in all processes that share a journal.
//   - [OutcomeOf] says whether a call was applied: look at it before anything else. [ErrOutcomeUnknown] matches a call that may have
//     happened; [OutcomeUnknownError.Resolve] reads which.
//   - [CampaignsService.Review] shows a person what a campaign will send, and [CampaignsService.Approve] sends exactly that, once.
//     [CampaignsService.ApproveUnreviewed] sends whatever is there.
//   - Code..., such as [CodeListNameTaken], are the errors of the service; Err..., such as [ErrRateLimited], their classes.
//
// So a program that creates something asks for the outcome first:
//
//	list, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
//	switch {
//	case err == nil:
//		fmt.Println(list.ID)
//	case prospectkit.OutcomeOf(err) != prospectkit.OutcomeNotApplied: // always first: it happened, or it may have
//		fmt.Println("look for the list before you create it again:", err)
//	case errors.Is(err, prospectkit.CodeListNameTaken): // nothing happened: the name is in use
//		fmt.Println("choose another name")
//	default:
//		return err // nothing happened
//	}
//
// # The second day
//
//   - [RetryAfter] says whether time alone helps after an error. Its text says what else does.
//   - [WithLogger] logs a line for each event, [WithInfo] shows one call on the wire, [WithObserver] all of them.
//   - [WithMaxWait] bounds each wait for a rate limit; [Batch] lets other calls go first.
//   - [WithJournal] keeps what was in progress when a process dies: see [Client.Recover].
//   - What the API description leaves open is called undocumented: such a body is [Fields], such a response an [Object]. What this
//     package or its sandbox guesses is called assumed. [WithField], [WithRoutes] and [Client.Call] reach what has no name here.
//
// # What is retried
//
// Reads are retried with backoff, those that cost credits only after a 500 of the service. Every call is sent again after a 429, and
// when nothing was sent and a retry can help. A write that may have been processed is retried only if [AllowRetryUnknown] allows it.
//
// # Iterators
//
// Iterators request pages as the loop needs them. Each range begins at the first page, unless a checkpoint says otherwise. Once the
// context has ended, no further page is requested. An error ends the loop, except in [AgentsService.WaitEach].
package prospectkit
