package firstcontact

import "strings"

// unreachable are the rules of the sandbox that no finding is about. A test demands that each rule is here or there.
var unreachable = []Unreachable{
	{"it would write", strings.Fields(`agents.activate agents.adjust agents.blank agents.dates agents.day agents.draft agents.expires agents.extra
		agents.fields agents.filters agents.industry agents.limit agents.name agents.name.form agents.pause agents.pause.draft
		agents.pause.processing agents.signal agents.source-empty agents.sources agents.sources.empty agents.sources.kinds agents.start
		agents.states agents.values body.content-type body.id body.ignored body.malformed body.missing body.repeated body.size body.unasked
		body.unknown campaigns.adjust campaigns.channels campaigns.contacts campaigns.create campaigns.empty campaigns.initializing
		campaigns.lists campaigns.reach campaigns.reach.delay campaigns.reach.fields campaigns.references facts.edit facts.gate
		facts.gate.words facts.missing fill.codes hubs.owner hubs.set-default imports.content imports.create imports.file imports.form
		imports.formats imports.json imports.megabytes imports.presign imports.unknown instants lists.add-contacts lists.add-members
		lists.create lists.move lists.move.folder lists.names lists.reserved lists.save-to-list lists.save-to-list.kind lists.titles
		sends.edit sends.edit.shape steps.note steps.order steps.sent text.characters text.malformed`)},
	{"it would send messages, or write into a CRM", strings.Fields(`approve.answer approve.busy approve.channels approve.content approve.lists
		approve.lock approve.owner approve.ready approve.sends approve.state approve.steps crm.ids crm.kinds crm.refusals crm.status
		crm.sync-user sends.due sends.moves sends.nothing-leaves sends.parked`)},
	{"it would spend credits, or may", strings.Fields(`agents.clock agents.price agents.results companies.city companies.city.names
		companies.exclude companies.exclude.match contacts.resolve credits.before credits.default-prices credits.prices credits.status
		scroll.end scroll.forward scroll.life scroll.refused search.companies search.filters search.filters.empty search.filters.none
		search.filters.words search.matching search.save-to-list search.saved search.size search.size.least steps.preview
		steps.preview.shape`)},
	{"it needs several keys, a full rate limit, or knowledge of your data", strings.Fields(`auth.foreign auth.scopes limits.fixed
		limits.retry-after lists.folder-unknown lists.processing lists.search lists.system-read rows.company-filters rows.filters.ignored
		rows.filters.match rows.order rows.sort rows.sort.values hubs.pageless hubs.processing contacts.known paths.supplied`)},
	{"it is a detail that one request each would take", strings.Fields(`auth.password auth.repeated
		contacts.cursor contacts.cursor.refused contacts.first-page contacts.first-page.extras contacts.timeline ids.case integers
		lists.include order paths.escaped paths.first query.malformed query.repeated query.unknown rows.bounds rows.filters.empty
		rows.filters.length rows.headcount rows.sort-order validation.first`)},
}
