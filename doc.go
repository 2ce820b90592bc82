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
// # Finding an operation
//
// A [Client] has one field for each part of the service. Their types list the calls, each with its route and scope:
//
//   - [AccountService]: whom the key belongs to, and the credits that are left
//   - [ListsService]: lists, their rows, folders, filling lists, pushing them into a CRM
//   - [AgentsService]: agents that deliver people or companies into a list, from draft to results
//   - [CampaignsService]: campaigns, their steps and scheduled sends, and the one call that sends messages
//   - [FactsService]: learned facts and knowledge hubs
//   - [SearchService]: prospects, companies, saved searches, and what their filters accept
//   - [ContactsService]: the id of a contact, and what happened with it
//   - [ImportsService]: files of contacts or companies
//
// [Operations] is the same as data, with scopes, limits and what a call may cost; [ScopesFor] says which scopes a key needs.
//
// # Calls
//
// Every method takes a context, the ids it needs, one struct of parameters whose zero value means defaults, and options for this
// one call. It returns the result and an error. Bound the whole call by the context; what the wire said besides, [Capture] tells.
// Make one client with [New] or [FromEnv] and share it: it is safe for concurrent use, and [Client.With] derives others from it.
//
// # Errors
//
// Branch on the service's codes, which are errors themselves, or on classes of them:
//
//	_, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
//	switch {
//	case errors.Is(err, prospectkit.ErrOutcomeUnknown):      // it may have happened: look, do not repeat
//	case errors.Is(err, prospectkit.CodeListNameTaken):      // somebody has the name
//	case errors.Is(err, prospectkit.ErrInsufficientCredits): // nothing was billed
//	}
//
// Every error says what became of the call, see [OutcomeOf], and what to do about it, see [AdviceOf]:
//
//   - [*Error]: an answer that was no success, or no answer to a call that surely changed nothing
//   - [*OutcomeUnknownError]: a write, or a paid read, in doubt
//   - [*AnswerLostError]: a call that succeeded, but whose answer cannot be read
//   - [*WaitError]: a wait for a rate limit that would be too long; nothing was sent
//   - [*RefusedError]: arguments out of bounds, or a safety rule; nothing was sent
//
// Calls of several steps have their own: [*UnsettledError], [*StartError], [*NotStartedError], [*NameHeldError].
//
// # What is repeated and what never is
//
// A read is repeated with backoff, at most three attempts in all; see [RetryPolicy]. Any call is repeated after a 429, once
// Retry-After is over, and when a connection trace proves that nothing was sent. A write that may have been delivered is never sent
// again, and neither is a read that may have been paid for. A wait that would outlast the context or [WithMaxWait] is refused at once.
//
// # After an unknown outcome
//
// The error itself can find out what became of the call. It only reads:
//
//	if doubt, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok {
//		resolution, err := doubt.Resolve(ctx) // VerdictHappened, VerdictNotSeen or VerdictUnknowable
//	}
//
// [ListsService.Ensure] and [AgentsService.CreateAndStart] do that for you, and go on. [RepeatAfterDoubt] allows a repetition where
// it is harmless. Nothing ever approves a campaign twice.
//
// # Iterators
//
// All, Rows and their like read a page when the loop needs one, as large as the service allows, because requests are what is
// limited. An error comes once and last, and leaving the loop leaves nothing running. Records that come twice or are skipped at a page boundary
// while others change the collection are dealt with. Two pages in a row that bring nothing new, before the last, end a range with an
// error. [WithProgress] reports how, and gives a checkpoint from which [ResumeFrom] goes on, in
// another process if need be. [Prefetch] reads pages ahead. Where pages cost credits, [MaxPaidPages] or [UnlimitedPages] is required.
//
// # The rate budget
//
// The service limits requests by the minute and by the day, per [Surface] and for the whole workspace. A [Budget] spaces calls so
// that they use the quota and earn no 429: they wait in line, or fail at once with a [*WaitError]. [Budget.Forecast] says how long a
// job will take, [Reserve] and [WithPriority] let people go before batch jobs, [WithBudget] shares the budget between clients, and
// [SharedBy] between processes: package [example.com/prospectkit/redisbudget] does so in Redis.
//
// # Safety modes
//
// [ReadOnly], [NoSpend] and [NoSend] refuse, before the network, what may change something, spend credits or reach people. Given to
// a client they hold for all its calls; given to a call, for that one. Nothing lifts them. Without them, too, arguments out of the
// documented bounds are refused, and an agent that starts has to say what it may spend.
//
// # Observability
//
// Nothing is logged unless you ask. [WithLogger] takes a slog.Logger, [WithObserver] sees every attempt, wait and call as an [Event],
// and [WithCallHook] follows a single call; package [example.com/prospectkit/otelprospectkit] makes spans and metrics of that. Logs,
// spans and metrics hold no token, id, query or body. Something new in an answer is told as [EventUndocumented].
//
// # Testing
//
// Package [example.com/prospectkit/sandbox] is the service for your tests, with faults and a clock that you move:
//
//	sb := sandbox.New(t)
//	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
//	sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter()) // done, but the answer is lost
//
// # What the service's document leaves open
//
// "The document" in these comments is the service's public API description. Nothing is guessed in silence. Objects whose fields are not shown keep their text: see [Row] and [Object]. Bodies whose fields
// are not shown are [Fields] that you supply. Operations whose path is assumed or missing say so in their comment and in
// [Operations]; [WithPath] sets it. [WithField] and [WithQuery] add what you know better, and [Client.Call] reaches what has no method.
package prospectkit
