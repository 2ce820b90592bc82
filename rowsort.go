package prospectkit

// The service ignores a sort key without an order, and falls back silently to its own order for a key it does not know. So key
// and order are one value here, and known keys are constants.

// SortKey is something rows can be sorted by: a [ContactSortKey], a [CompanySortKey], [SortByColumn] or [RawSortKey].
type SortKey interface {
	sortKey() (key string, kind ListKind)
}

// ContactSortKey sorts the rows of a contact list.
type ContactSortKey string

// The documented keys of contact lists. Those of the first group are indexed, the update time is slow.
const (
	ByFirstName ContactSortKey = "firstName"
	ByLastName  ContactSortKey = "lastName"
	ByJobTitle  ContactSortKey = "jobTitle"
	ByCreatedAt ContactSortKey = "createdAt"
	ByCity      ContactSortKey = "address.city"
	ByCountry   ContactSortKey = "address.country"

	ByUpdatedAt ContactSortKey = "updatedAt"

	ByContactCompanyName      ContactSortKey = "company.name"
	ByContactCompanyDomain    ContactSortKey = "company.domain"
	ByContactCompanyIndustry  ContactSortKey = "company.industry"
	ByContactCompanyCountry   ContactSortKey = "company.country"
	ByContactCompanyType      ContactSortKey = "company.type"
	ByContactCompanyRevenue   ContactSortKey = "company.revenue"
	ByContactCompanyHeadcount ContactSortKey = "company.socialHeadCount"
	ByContactCompanyCity      ContactSortKey = "company.address.city"
	ByContactCompanyState     ContactSortKey = "company.address.state"
	ByContactCompanyHQCountry ContactSortKey = "company.address.country"
)

func (k ContactSortKey) sortKey() (string, ListKind) { return string(k), ContactList }

// CompanySortKey sorts the rows of a company list.
type CompanySortKey string

// The documented keys of company lists.
const (
	ByCompanyName      CompanySortKey = "name"
	ByCompanyDomain    CompanySortKey = "domain"
	ByCompanyIndustry  CompanySortKey = "industry"
	ByCompanyRevenue   CompanySortKey = "revenue"
	ByCompanyHeadcount CompanySortKey = "socialHeadCount"
)

func (k CompanySortKey) sortKey() (string, ListKind) { return string(k), CompanyList }

type columnSortKey string

func (k columnSortKey) sortKey() (string, ListKind) { return "customColumns_" + string(k), "" }

type anySortKey string

func (k anySortKey) sortKey() (string, ListKind) { return string(k), "" }

// SortByColumn sorts rows by a custom column.
func SortByColumn(columnID string) SortKey { return columnSortKey(columnID) }

// RawSortKey sorts rows by a key of your own, 1 to 100 characters. One that the service does not know is ignored silently.
func RawSortKey(key string) SortKey { return anySortKey(key) }

// RowSort is a key with an order; make one with [Ascending] or [Descending].
type RowSort struct {
	key   string
	order string
	kind  ListKind

	noColumn bool // a column was meant, but its id is none
}

// Ascending sorts by a key, lowest first.
func Ascending(k SortKey) RowSort { return sortBy(k, "asc") }

// Descending sorts by a key, highest first.
func Descending(k SortKey) RowSort { return sortBy(k, "desc") }

func sortBy(k SortKey, order string) RowSort {
	if k == nil {
		return RowSort{order: order}
	}
	key, kind := k.sortKey()
	column, ok := k.(columnSortKey)
	return RowSort{key: key, order: order, kind: kind, noColumn: ok && !isID(string(column))}
}

func (s RowSort) listKind() ListKind { return s.kind }

func (s RowSort) check(bad *checks) {
	if s != (RowSort{}) {
		bad.length("sortBy", s.key, 1, maxSortKey)
	}
	if s.noColumn {
		bad.add("sortBy", "must name a column by 24 hexadecimal digits")
	}
}
