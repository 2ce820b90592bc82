package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.ListsRows: {handle: (*call).listRows, takes: slices.Concat(pages, []taking{
		optional("sortBy", chars(100)), optional("sortOrder", oneOf("asc", "desc")), optional("filters", func(_ *call, v value) string {
			if runes(v.text) > longestFilter {
				return fmt.Sprintf("has to be at most %d characters long", longestFilter)
			}
			return ""
		}),
	})},
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
	page, sortOrder, filters := c.paging(100), c.in.text("sortOrder"), c.in.text("filters")
	var conditions []condition
	if c.in.has("filters") {
		conditions = parseFilters(filters)
	}
	l, path := c.list(), ""
	if sortOrder != "" {
		path = sortPath(l.EntityType, c.in.text("sortBy"))
	}
	if path == "" && len(conditions) == 0 {
		from, to, pages := page.of(len(l.Rows))
		return rowPage(l, l.Rows[from:to], pages)
	}
	order := c.order(l, filters+"\x00"+sortOrder+"\x00"+path, conditions, path, sortOrder == "desc")
	from, to, pages := page.of(len(order))
	rows := appendEach(nil, order[from:to], func(i int) json.RawMessage { return l.Rows[i] })
	return rowPage(l, rows, pages)
}

// rowPage joins what is already encoded.
func rowPage(l *List, rows []json.RawMessage, pages object) response {
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

// rowIndex is how the rows of a list are found: made when it is needed, and gone when they change.
type rowIndex struct {
	ids      []string
	position map[string]int // by the id in lower case

	// The order of the last filtered or sorted page: the next page of the same query reuses it.
	query   string
	version int
	order   []int
}

func (ws *workspace) index(l *List) *rowIndex {
	x := ws.rows[l]
	if x == nil {
		x = &rowIndex{position: make(map[string]int, len(l.Rows))}
		for i, row := range l.Rows {
			id, _ := fieldString(row, "id")
			x.ids, x.position[strings.ToLower(id)] = append(x.ids, id), i
		}
		ws.rows[l] = x
	}
	return x
}

func (ws *workspace) row(l *List, id string) (json.RawMessage, bool) {
	i, ok := ws.index(l).position[strings.ToLower(id)]
	if !ok {
		return nil, false
	}
	return l.Rows[i], true
}

func (ws *workspace) has(l *List, id string) bool {
	_, there := ws.row(l, id)
	return there
}

func (c *call) order(l *List, query string, conditions []condition, path string, desc bool) []int {
	x := c.ws.index(l)
	if x.query == query && x.version == c.ws.version {
		return x.order
	}
	order := []int{}
	for i := range l.Rows {
		if c.meets(l, i, conditions) {
			order = append(order, i)
		}
	}
	if path != "" {
		sortRows(l, order, path, desc)
	}
	x.query, x.version, x.order = query, c.ws.version, order
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

// sortValue is what a row is sorted by: numbers before texts, and rows without it last, in either direction.
type sortValue struct {
	missing bool
	text    string // in lower case
	number  float64
}

func sortRows(l *List, order []int, path string, desc bool) {
	values := make(map[int]sortValue, len(order))
	for _, i := range order {
		values[i] = sortValueOf(l.Rows[i], path)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := values[i], values[j]
		by := cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.number, b.number))
		switch {
		case a.missing != b.missing:
			return map[bool]int{true: 1, false: -1}[a.missing]
		case desc:
			return -by
		}
		return by
	})
}

func sortValueOf(row []byte, path string) (v sortValue) {
	raw, ok := lookup(row, path)
	if !ok || raw[0] == '{' || raw[0] == '[' || raw[0] == 'n' {
		return sortValue{missing: true}
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if text, isText := asString(raw); isText {
		v.text = strings.ToLower(text)
	} else if err != nil {
		v.text = string(raw) // true or false
	}
	v.number = n
	return v
}

// insert adds rows to a list, and ids to the rows that have none.
func (ws *workspace) insert(l *List, at int, rows []json.RawMessage) (ids []string) {
	rows, ids = ws.identified(rows)
	l.Rows = slices.Insert(l.Rows, at, rows...)
	ws.changed(l)
	return ids
}

// identified gives ids to rows that have none.
func (ws *workspace) identified(rows []json.RawMessage) (all []json.RawMessage, ids []string) {
	ws.seenRows(rows)
	for _, row := range rows {
		id, _ := fieldString(row, "id")
		if id == "" {
			id = ws.newID()
			row = withID(row, id)
		}
		all, ids = append(all, row), append(ids, id)
	}
	return all, ids
}

func (ws *workspace) changed(l *List) {
	delete(ws.rows, l)
	ws.version++
}

func withID(row json.RawMessage, id string) json.RawMessage {
	inner := bytes.TrimLeft(bytes.TrimSpace(row)[1:], " \t\r\n")
	out := append(make([]byte, 0, len(row)+len(id)+8), `{"id":"`+id+`"`...)
	if len(inner) > 1 {
		out = append(out, ',')
	}
	return append(out, inner...)
}

func (ws *workspace) remove(l *List, ids ...string) {
	gone := map[string]bool{}
	for _, id := range ids {
		gone[strings.ToLower(id)] = true
	}
	l.Rows = slices.DeleteFunc(l.Rows, func(row json.RawMessage) bool {
		id, _ := fieldString(row, "id")
		return gone[strings.ToLower(id)]
	})
	ws.changed(l)
}

// Rows returns the rows of a list, or none if there is no such list.
func (w *Tenant) Rows(listID string) []json.RawMessage {
	return inspect(w, func(ws *workspace) []json.RawMessage { return slices.Clone(cmp.Or(ws.list(listID), new(List)).Rows) })
}

// AddRows adds rows at the end of a list and returns their ids.
func (tx *Tx) AddRows(listID string, rows ...Row) []string {
	return tx.InsertRows(listID, -1, rows...)
}

// InsertRows adds rows before the row at a position, counted from zero, and returns their ids. A negative position is the end.
func (tx *Tx) InsertRows(listID string, at int, rows ...Row) (ids []string) {
	encoded := Rows(rows...)
	lists.change(tx, "InsertRows", listID, func(l *List, _ time.Time) error {
		if at < 0 {
			at = len(l.Rows)
		}
		if at > len(l.Rows) {
			return fmt.Errorf("the list has only %d rows", len(l.Rows))
		}
		err := mistakes(func(fail failing) { validateRows(encoded, fail, func(id string) bool { return tx.ws.has(l, id) }) })
		if err == nil {
			ids = tx.ws.insert(l, at, encoded)
		}
		return err
	})
	return ids
}

// validateRows rejects rows that are no objects with an id of their own, or none.
func validateRows(rows []json.RawMessage, fail failing, taken func(id string) bool) {
	seen := make(map[string]bool, len(rows))
	for i, row := range rows {
		id, err := rowID(row)
		switch key := strings.ToLower(id); {
		case err != nil:
			fail("row %d: %v", i, err)
		case id != "" && (seen[key] || taken(id)):
			fail("row %d: another row has the id %s", i, id)
		default:
			seen[key] = true
		}
	}
}

// ChangeRow replaces some fields of the row that has the id in row. Its updatedAt is then the time of the clock, unless row sets one:
// a row of your own has one only if you give it one.
func (tx *Tx) ChangeRow(listID string, row Row) {
	lists.change(tx, "ChangeRow", listID, func(l *List, now time.Time) error {
		i, there := tx.ws.index(l).position[strings.ToLower(fmt.Sprint(row["id"]))]
		if !there {
			return fmt.Errorf("the list has no row with the id %v", row["id"])
		}
		var old fields
		_ = json.Unmarshal(l.Rows[i], &old) // every row is an object
		changed := Row{}
		for name, value := range old {
			changed[name] = value
		}
		changed["updatedAt"] = wireTime(now)
		maps.Copy(changed, row)
		changed["id"] = old["id"] // in its case
		l.Rows[i] = Rows(changed)[0]
		return nil
	})
}

// RemoveRows removes rows from a list.
func (tx *Tx) RemoveRows(listID string, ids ...string) {
	lists.change(tx, "RemoveRows", listID, func(l *List, _ time.Time) error {
		if i := slices.IndexFunc(ids, func(id string) bool { return !tx.ws.has(l, id) }); i >= 0 {
			return fmt.Errorf("the list has no row with the id %s", ids[i])
		}
		tx.ws.remove(l, ids...)
		return nil
	})
}
