package prospectkit

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/spend"
)

// SearchService finds prospects and companies. Searches may spend credits: their iterators require [MaxPaidPages].
type SearchService struct{ service }

const maxSearchSize = 100

// SearchParams is a search. [SearchService.FilterOptions] lists the filters and their values.
type SearchParams struct {
	Filters filter.Search // nil: everybody (assumed); nothing in it may be empty
	Size    int           // per page, 1 to 100; default: 100, and 10 for a single page
}

// searchBody asks for one page. Later pages differ by the token alone. No bound on the number of filters is
// documented.
type searchBody struct {
	Filters     filter.Search `json:"filters,omitempty"`
	Size        int           `json:"size,omitzero"`
	ScrollToken string        `json:"scrollToken,omitzero"`
}

func (b searchBody) check(bad *check.Violations) {
	bad.Between("size", b.Size, 1, maxSearchSize)
	checkFilters(bad, b.Filters)
}

func checkFilters(bad *check.Violations, filters filter.Search) {
	if filters != nil {
		bad.NotEmpty("filters", filters)
	}
}

// Profile is a prospect that a search found.
type Profile struct {
	FirstName   string `json:"firstName"`
	LastName    string `json:"lastName"`
	JobTitle    string `json:"jobTitle"`
	CompanyName string `json:"companyName"`
	SocialURL   string `json:"socialUrl"`
	partial
}

// String returns its JSON.
func (p Profile) String() string { return textOf(p.raw, p) }

// Prospects iterates over the prospects that match. Each page spends credits, so it requires [MaxPaidPages]. Each range is a new search,
// paid for again. A loop that ends within a page loses the rest, although paid for: [SearchService.ProspectsPage] and Next hand out whole
// pages.
//
// Errors: likely: [CodeSearchFiltersInvalid], [CodeInsufficientCredits].
//
// POST /business/prospects/search, scope search.
func (s *SearchService) Prospects(ctx context.Context, p SearchParams, opts ...PageOption) iter.Seq2[*Profile, error] {
	return itemsOf[Profile](ctx, profileScroll(s.conf, op.SearchProspects, nil, p.body(maxSearchSize)).pages(), opts)
}

// ProspectsPage reads the first page of matches; its Next reads the following one. Each spends credits. It is retried after a 500, which is
// never billed (documented), but never after an unknown outcome.
//
// Errors: those of [SearchService.Prospects].
//
// POST /business/prospects/search, scope search.
func (s *SearchService) ProspectsPage(ctx context.Context, p SearchParams, opts ...CallOption) (*ScrollPage[Profile], error) {
	return profileScroll(s.conf, op.SearchProspects, nil, p.body(0)).first(ctx, opts)
}

// MatchSave is a search, and the list to save its matches into (fields assumed).
type MatchSave struct {
	Filters  filter.Search `json:"filters,omitzero"`  // as for a search; nothing in it may be empty
	All      bool          `json:"-"`                 // instead of Filters: without them it saves everybody (assumed)
	ListID   string        `json:"listId,omitzero"`   // the list to save into
	ListName string        `json:"listName,omitzero"` // or its name: not of several lists, nor of a system list
	Extra    Fields        `json:"-"`
}

func (m MatchSave) check(bad *check.Violations) {
	checkFilters(bad, m.Filters)
	bad.Chosen("filters", m.Filters != nil || m.Extra.has("filters"), m.All)
	bad.OptionalID("listId", m.ListID)
	m.Extra.checkChoice(bad)
}

// SaveMatches runs a search on the server and saves the matches into a list. Beyond [MatchSave], body and response are undocumented. The
// sandbox takes filters and listId or listName (assumed: rule search.save-to-list). It counts as spending credits. To make it once, pass
// [Once].
//
// Errors: likely: [CodeSearchFiltersInvalid], [CodeListNotFound], [CodeListNameAmbiguous], [CodeListNameTaken], [CodeListNameReserved],
// [CodeInsufficientCredits].
//
// POST /business/prospects/search/save-to-list, scope search.
func (s *SearchService) SaveMatches(ctx context.Context, in MatchSave, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.SearchSave, args{body: in, extra: []Fields{in.Extra}}, opts)
}

// Saved lists the saved searches.
//
// GET /business/saved-searches, scope search.
func (s *SearchService) Saved(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.SearchSaved, args{}, opts)
}

// RunSaved iterates over what a saved search finds, as [SearchService.Prospects] does. size is per page, 1 to 100 (assumed); 0 means 100,
// and 10 for RunSavedPage. It counts as spending credits (undocumented).
//
// Errors: likely: [CodeSavedSearchNotFound], [CodeSavedSearchInvalid], [CodeSavedSearchTypeMismatch], [CodeInsufficientCredits].
//
// POST /business/saved-searches/{savedSearchId}/run, scope search.
func (s *SearchService) RunSaved(ctx context.Context, savedSearchID string, size int, opts ...PageOption) iter.Seq2[*Profile, error] {
	body := searchBody{Size: cmp.Or(size, maxSearchSize)}
	return itemsOf[Profile](ctx, profileScroll(s.conf, op.SearchRunSaved, []string{savedSearchID}, body).pages(), opts)
}

// RunSavedPage reads the first page of [SearchService.RunSaved]; its Next reads the following one.
//
// Errors: those of [SearchService.RunSaved].
//
// POST /business/saved-searches/{savedSearchId}/run, scope search.
func (s *SearchService) RunSavedPage(ctx context.Context, savedSearchID string, size int, opts ...CallOption) (*ScrollPage[Profile], error) {
	return profileScroll(s.conf, op.SearchRunSaved, []string{savedSearchID}, searchBody{Size: size}).first(ctx, opts)
}

// CompanySearch is a search for companies, by filters or a saved search.
type CompanySearch struct {
	Filters             Fields   `json:"filters,omitzero"`             // documented: headquartersCity, names of cities; nothing in it may be empty
	SavedSearchID       string   `json:"savedSearchId,omitzero"`       // a saved search of companies
	ExcludeCompanyLists []string `json:"excludeCompanyLists,omitzero"` // ids of company lists
	Extra               Fields   `json:"-"`
}

func (c CompanySearch) check(bad *check.Violations) {
	if c.Filters != nil {
		bad.NotEmpty("filters", c.Filters)
	}
	bad.OptionalID("savedSearchId", c.SavedSearchID)
	bad.IDs("excludeCompanyLists", c.ExcludeCompanyLists)
	c.Extra.checkChoice(bad)
}

// Companies searches for companies. Beyond [CompanySearch], body and response are undocumented. The sandbox takes filters, with
// headquartersCity alone, or savedSearchId, excludeCompanyLists, size and scrollToken (assumed: rule search.companies). It counts as
// spending credits (undocumented).
//
// Errors: likely: [CodeSearchFiltersInvalid], [CodeCityFilterUnresolved], [CodeExcludeCompanyListsInvalid], [CodeSavedSearchNotFound],
// [CodeSavedSearchInvalid], [CodeInsufficientCredits].
//
// POST /companies/search, scope companies.
func (s *SearchService) Companies(ctx context.Context, in CompanySearch, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.SearchCompanies, args{body: in, extra: []Fields{in.Extra}}, opts)
}

// FilterOptions returns the values that search filters accept.
//
// GET /business/prospects/filter-options, scope any.
func (s *SearchService) FilterOptions(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.SearchFilterOptions, args{}, opts)
}

// body returns the request body of all pages of a range. It is a copy, so that the query cannot change.
func (p SearchParams) body(size int) searchBody {
	filters := maps.Clone(p.Filters)
	for name, entries := range filters {
		filters[name] = slices.Clone(entries)
	}
	return searchBody{Filters: filters, Size: cmp.Or(p.Size, size)}
}

func profileScroll(conf *config, o *op.Op, ids []string, body searchBody) scroll[Profile] {
	size := cmp.Or(body.Size, maxSearchSize)
	room := roomFor(size)
	if o == op.SearchRunSaved {
		size, room = maxSearchSize, 0 // that it takes a size is assumed
	}
	fetch := func(ctx context.Context, token string, opts []CallOption) (*ScrollPage[Profile], jsonscan.Text, error) {
		body := body
		body.ScrollToken = token
		in := args{ids: ids, body: body, pageToken: token, cost: spend.Call{Results: size}}
		found := new(profiles)
		c, err := doCall(ctx, conf, o, in, opts, expected{out: found, maxItems: room})
		if err != nil {
			return nil, nil, err
		}
		page := &ScrollPage[Profile]{Items: found.Profiles, RequestID: c.requestID, Rate: c.rate}
		return page, found.ScrollToken, nil
	}
	return scroll[Profile]{op: o, identity: (*Profile).identity, fetch: fetch}
}

func (p *Profile) identity() string {
	if p.SocialURL != "" {
		return p.SocialURL
	}
	return string(p.raw.Raw())
}

// profiles is the response to a search. It keeps an element that is not a profile as it is, because
// the page has been paid for.
type profiles struct {
	Profiles    []Profile     `json:"profiles"`
	ScrollToken jsonscan.Text `json:"scrollToken"`
}

func (p *profiles) count() int { return len(p.Profiles) }

func (p *profiles) validateText(text []byte) error {
	return errorIf(p.Profiles == nil && !isNull(text, "profiles"), "the page has no profiles")
}
