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
// To begin:
//   - [New] and [FromEnv] make a [Client]. Share it: it is safe for concurrent use.
//   - [Client.Lists], Agents, Campaigns, Facts, Search, Contacts, Imports and Account are the parts of the service.
//   - [ReadOnly], [NoSpend] and [NoSend] refuse calls that could do harm; package [example.com/prospectkit/sandbox]
//     is the service for your tests, with faults, credits and virtual time.
//
// To read:
//   - All, as in [ListsService.All], yields every element; Get, as in [ListsService.Get], reads one by its id.
//   - [ListsService.Rows] yields the rows of a list, [RowsOf] decodes them into your own struct, [Collect] makes a slice.
//   - [MaxPaidPages] bounds what an iterator over a search spends: such an iterator demands it or [UnlimitedPages]. [WithSpendGuard]
//     caps the credits of all calls together.
//   - [WithProgress] gives a checkpoint, from which [ResumeFrom] continues in another process.
//
// To write:
//   - Create, as in [ListsService.Create], sends its request again only if it is certain that the service did not process it.
//   - Ensure, as in [ListsService.Ensure] and [AgentsService.Ensure], creates or finds, also after a lost response.
//   - [Once] sends a write once for a key, such as an import or new contacts, in all processes that share a journal.
//   - [OutcomeOf] says whether a call was applied: look at it before anything else.
//   - [ErrOutcomeUnknown] matches a call that may have happened: [OutcomeUnknownError.Resolve] reads which.
//   - [CampaignsService.Review] shows a person what a campaign will send, and [CampaignsService.Approve] sends exactly that,
//     once. The client needs a journal for it. [CampaignsService.ApproveUnreviewed] sends whatever is there.
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
//   - [CodeOf] returns the code of an error, and [RetryAfter] says whether time alone helps. Its text says what else does.
//   - [WithLogger] logs a line for each event, [WithInfo] shows one call on the wire, [WithObserver] all of them.
//   - [WithMaxWait] bounds each wait for a rate limit; beyond it, the call is refused with [RuleRateLimit], at once if that is
//     foreseeable.
//   - [WithJournal] keeps what was in progress when a process dies: see [Client.Recover].
//   - [WithGate] asks your application before each call.
//   - [WithRetry] sets how often calls are retried, [Prefetch] reads pages ahead, [WithTokenSource] changes keys.
//   - What the service's API description leaves open is called undocumented: such a body is [Fields], such a response an
//     [Object]. What this package or its sandbox guesses is called assumed. [WithField], [WithRoutes] and [Client.Call] reach what
//     has no name here.
//
// # What is retried
//
// Reads are retried with backoff, those that cost credits only after a 500 of the service, and no later page of a search. Every
// call is sent again after a 429, and when nothing was sent and a retry can help. A write that may have been processed is retried
// only if [AllowRetryUnknown] allows it. Ensure looks first, and then may send it again.
//
// # Iterators
//
// Iterators request pages as the loop needs them. Each range begins at the first page, unless [ResumeFrom] says otherwise. Once the
// context has ended, the next request is not made: what is left of a page is still yielded. An error ends the loop, except in
// [AgentsService.WaitEach]; the [Report] of [WithProgress] then shows how far it came.
//
// # The rest
//
// Names that few programs type have packages of their own: [example.com/prospectkit/filter] for filters of rows and searches,
// [example.com/prospectkit/journal] and [example.com/prospectkit/spend] for the calls that name them.
package prospectkit
