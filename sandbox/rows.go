package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.ListsRows: {handle: (*call).listRows},
})

const longestFilter = 8000

// Row is a contact or a company: any fields, and an id, which is filled in if it is missing.
type Row map[string]any

// Rows encodes rows for [List]. It panics if a value has no JSON form.
func Rows(rows ...Row) []json.RawMessage {
	encoded := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		raw, err := json.Marshal(row)
		if err != nil {
			panic(fmt.Sprintf("sandbox: row %d: %v", i, err))
		}
		encoded[i] = raw
	}
	return encoded
}

func (c *call) listRows() response {
	q := c.params()
	page := q.paging(100)
	sortBy := q.text("sortBy", 100)
	sortOrder := q.choice("sortOrder", "asc", "desc")
	filters := q.Get("filters")
	if runes(filters) > longestFilter {
		q.fail("filters", "has to be at most %d characters long", longestFilter)
	}
	q.valid()
	var conditions []condition
	if q.Has("filters") {
		conditions = parseFilters(filters)
	}
	l, path := c.list(), ""
	if sortOrder != "" {
		path = sortPath(l.EntityType, sortBy)
	}
	conditions = l.honoured(conditions)
	if path == "" && len(conditions) == 0 {
		from, to, pages := page.of(len(l.rows))
		return rowPage(l, l.rows[from:to], pages)
	}
	order := c.order(l, filters+"\x00"+sortOrder+"\x00"+path, conditions, path, sortOrder == "desc")
	from, to, pages := page.of(len(order))
	rows := appendEach(nil, order[from:to], func(i int) json.RawMessage { return l.rows[i] })
	return rowPage(l, rows, pages)
}

// rowPage joins what is already encoded.
func rowPage(l *list, rows []json.RawMessage, pages object) response {
	size := 160
	for _, row := range rows {
		size += len(row) + 1
	}
	b := make([]byte, 0, size)
	b = append(b, `{"entityType":"`+l.EntityType+`","data":[`...)
	for i, row := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, row...)
	}
	b = fmt.Appendf(b, `],"pagination":%s}`, must(json.Marshal(pages)))
	return response{status: http.StatusOK, body: b}
}

// view is the order of the last filtered or sorted page: the next page of the same query reuses it.
type view struct {
	key     string
	version int
	order   []int
}

func (c *call) order(l *list, key string, conditions []condition, path string, desc bool) []int {
	if l.view.key == key && l.view.version == c.ws.version {
		return l.view.order
	}
	order := []int{}
	for i := range l.rows {
		if c.meets(l, i, conditions) {
			order = append(order, i)
		}
	}
	if path != "" {
		sortRows(l, order, path, desc)
	}
	l.view = view{key, c.ws.version, order}
	return order
}

// The documented company fields that rows can be sorted by.
var (
	sortableCompanyOfContact = []string{
		"company.name", "company.domain", "company.industry", "company.country", "company.type", "company.revenue",
		"company.socialHeadCount", "company.address.city", "company.address.state", "company.address.country",
	}
	sortableCompany = []string{"name", "domain", "industry", "revenue", "socialHeadCount"}
)

// sortPath is the path of a sort key, or empty if the key is not recognised.
func sortPath(entityType, key string) string {
	switch id, column := strings.CutPrefix(key, "customColumns_"); {
	case column:
		return "customColumns." + id
	case entityType == CompanyList:
		if !slices.Contains(sortableCompany, key) {
			return ""
		}
	case strings.HasPrefix(key, "company.") && !slices.Contains(sortableCompanyOfContact, key):
		return ""
	}
	return key
}

// sortValue is what a row is sorted by. Rows without it come last, in either direction.
type sortValue struct {
	kind   int
	number float64
	text   string // in lower case
}

const (
	isNumber = iota
	isText
	isMissing
)

func sortRows(l *list, order []int, path string, desc bool) {
	values := make(map[int]sortValue, len(order))
	for _, i := range order {
		values[i] = sortValueOf(l.rows[i], path)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := values[i], values[j]
		if a.kind == isMissing || b.kind == isMissing {
			return cmp.Compare(a.kind/isMissing, b.kind/isMissing)
		}
		by := cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
		if desc {
			return -by
		}
		return by
	})
}

func sortValueOf(row []byte, path string) sortValue {
	raw, ok := lookup(row, path)
	if !ok {
		return sortValue{kind: isMissing}
	}
	if s, ok := asString(raw); ok {
		return sortValue{kind: isText, text: strings.ToLower(s)}
	}
	switch string(raw) {
	case "true":
		return sortValue{number: 1}
	case "false":
		return sortValue{number: 0}
	}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return sortValue{number: n}
	}
	return sortValue{kind: isMissing}
}

// insert adds rows to a list, and ids to the rows that have none.
func (ws *workspace) insert(l *list, at int, rows []json.RawMessage) []string {
	added := make([]json.RawMessage, len(rows))
	ids := make([]string, len(rows))
	for i, row := range rows {
		id, ok := fieldString(row, "id")
		if !ok || id == "" {
			id = ws.newID()
			row = withID(row, id)
		}
		added[i], ids[i] = row, id
	}
	l.rows = slices.Insert(l.rows, at, added...)
	l.ids = slices.Insert(l.ids, at, ids...)
	l.position = nil
	ws.version++
	return ids
}

func withID(row json.RawMessage, id string) json.RawMessage {
	inner := bytes.TrimLeft(bytes.TrimSpace(row)[1:], " \t\r\n")
	out := append(make([]byte, 0, len(row)+len(id)+8), `{"id":"`+id+`"`...)
	if len(inner) > 1 {
		out = append(out, ',')
	}
	return append(out, inner...)
}

func (ws *workspace) remove(l *list, ids []string) {
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	keep := 0
	for i, id := range l.ids {
		if !gone[id] {
			l.rows[keep], l.ids[keep] = l.rows[i], id
			keep++
		}
	}
	clear(l.rows[keep:])
	l.rows, l.ids, l.position = l.rows[:keep], l.ids[:keep], nil
	ws.version++
}

func (l *list) row(id string) (json.RawMessage, bool) {
	if l.position == nil {
		l.position = make(map[string]int, len(l.ids))
		for i, id := range l.ids {
			l.position[id] = i
		}
	}
	i, ok := l.position[id]
	if !ok {
		return nil, false
	}
	return l.rows[i], true
}

func (l *list) has(id string) bool {
	_, there := l.row(id)
	return there
}

// Rows returns the rows of a list, or none if there is no such list.
func (w *Tenant) Rows(listID string) []json.RawMessage {
	return inspect(w, func(ws *workspace) []json.RawMessage { return slices.Clone(cmp.Or(ws.byID[listID], new(list)).rows) })
}
