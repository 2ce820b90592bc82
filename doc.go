// Package prospectkit is a client for the Prospecting and Outreach Business API: lists and their rows, folders, agents, campaigns, learned
// facts, prospect search, contacts, imports and the account.
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
// To read:
//
//   - [New] and [FromEnv] make a [Client], whose fields are the parts of the service. Share it.
//   - [ReadOnly], [NoSpend] and [NoSend] refuse calls that could do harm. Package [example.com/prospectkit/sandbox] is the service for
//     your tests.
//   - All yields every element. [RowsOf] decodes rows into your own struct, [Collect] makes a slice.
//   - [MaxPaidPages] bounds what a search spends, [WithSpendGuard] what all calls do.
//   - [WithProgress] gives a checkpoint, from which another process continues.
//
// To write:
//
//   - Create sends its request again only if the service certainly did not process it. Ensure creates or finds. [Once] sends once for a
//     key.
//   - [OutcomeOf] says whether a call was applied. [OutcomeUnknownError.Resolve] reads it for one that may have been.
//   - [WithJournal] keeps what was in progress when a process dies, for [Client.Recover].
//   - [CampaignsService.Review] shows a person what a campaign will send, and [CampaignsService.Approve] sends exactly that, once.
//
// Code..., such as [CodeListNameTaken], are the errors of the service; Err..., such as [ErrRateLimited], their classes. Ask for the
// outcome first:
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
// What the API description leaves open is undocumented: such a body is [Fields], such a response an [Object]. What this package guesses is
// assumed. [WithField], [WithRoutes] and [Client.Call] reach what has no name here. Records, and errors that quote the service, may hold
// personal data: keep them out of logs.
//
// Reads are retried with backoff, those that cost credits only after a 500 of the service. Every call is sent again after a 429, and when
// nothing was sent. A write that may have been processed is sent again only by [AllowRetryUnknown], Ensure and CreateAndStart.
package prospectkit
