package services_test

import (
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// Where a walk began is not a part of what it walks over: its checkpoint resumes one that would begin elsewhere, and none over something else.
// That holds for every method that pages by number, whatever it calls the number.
func TestCheckpoint_FirstPageIsNoPartOfTheQuery(t *testing.T) {
	var asked []string
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		query, number := r.URL.Query(), "1"
		for name := range query {
			if n, err := strconv.Atoi(query.Get(name)); err == nil && n > 0 && name != "limit" {
				number = query.Get(name)
			}
		}
		asked = append(asked, number)
		item := ""
		if number <= "4" {
			item = `{"id":"a0000000000000000000000` + number + `","name":"` + number + `","entityType":"contactList"}`
		}
		return tests.Respond(200, `{"data":[`+item+`],"pagination":{"pageNum":`+number+`,"totalPages":4,"totalRecords":4}}`), nil
	}))
	for name, walk := range everyPager(t, client) {
		first, rest := 2, "34"
		if !walk.begins {
			first, rest = 1, "234"
		}
		var progress prospectkit.Progress
		for item, err := range walk.from(tests.ListID, first, 1, prospectkit.WithProgress(&progress)) {
			require.NoError(t, err, name)
			require.Equal(t, strconv.Itoa(first), item, name)
			break
		}
		from := prospectkit.WithProgress(&prospectkit.Progress{ResumeFrom: progress.Checkpoint()})
		require.Equal(t, rest, allOf(t, walk.from(tests.ListID, 0, 1, from)), name)
		if walk.ids {
			for _, err := range walk.from(tests.FolderID, 0, 1, from) {
				require.ErrorContains(t, err, "ResumeFrom", "%s: a checkpoint is of one collection", name)
			}
		}
		if !walk.begins {
			continue
		}
		require.Equal(t, rest, allOf(t, walk.from(tests.ListID, 2, 1, from)), name)
		for _, other := range []int{3, 4} { // page 3 would not come if the walk went on at page 4
			asked = nil
			for _, err := range walk.from(tests.ListID, other, 1, from) {
				require.ErrorAs(t, err, new(*prospectkit.RefusedError), name)
				require.ErrorContains(t, err, "ResumeFrom was taken with another PageNum: leave PageNum out", name)
			}
			require.Empty(t, asked, name)
		}
		require.Equal(t, "234", begunOn(t, walk, 2), name)
	}
}

// Whoever gives no limit reads the largest pages that there are, and nobody may ask for larger ones.
func TestPages_TheDefaultOfAnIteratorIsTheLargest(t *testing.T) {
	var asked []*url.URL
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL)
		return tests.Respond(200, `{"data":[],"pagination":{"pageNum":1,"totalPages":0,"totalRecords":0}}`), nil
	}))
	for name, walk := range everyPager(t, client) {
		if !walk.limits {
			continue
		}
		asked = nil
		require.NoError(t, endOf(walk.from(tests.ListID, 0, 0)), "%s without a Limit", name)
		require.Len(t, asked, 1, name)
		limit, err := strconv.Atoi(asked[0].Query().Get("limit"))
		require.NoError(t, err, "%s without a Limit asks for none: its pager gives the largest", name)
		require.NotEqual(t, 422, statusOf(t, asked[0], limit), "%s: the sandbox refuses the limit of %d, which a range without one asks for", name, limit)
		require.Equal(t, 422, statusOf(t, asked[0], limit+1), "%s without a Limit asks for %d; the sandbox has larger pages", name, limit)
		require.ErrorAs(t, endOf(walk.from(tests.ListID, 0, limit+1)), new(*prospectkit.RefusedError), "%s: check of its parameters bounds Limit", name)
	}
}

// endOf is the error with which a walk ends.
func endOf(walk iter.Seq2[string, error]) (err error) {
	for _, err = range walk {
	}
	return err
}

// statusOf is how the sandbox responds if such a page is asked for.
func statusOf(t *testing.T, page *url.URL, limit int) int {
	t.Helper()
	sb := tests.EverySandbox(t, time.Now())
	query := page.Query()
	query.Set("limit", strconv.Itoa(limit))
	base, err := url.Parse(sb.BaseURL())
	require.NoError(t, err)
	at := &url.URL{Scheme: base.Scheme, Host: base.Host, Path: base.Path + page.Path[strings.Index(page.Path, "/business"):], RawQuery: query.Encode()}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.String(), http.NoBody)
	require.NoError(t, err)
	r.SetBasicAuth(sb.Token(), "")
	resp, err := sb.Transport().RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// walk is a method that pages by number: what it yields, from a first page on.
type walk struct {
	ids, begins, limits bool // whether it takes an id, the number of the first page, and how much is on a page
	from                func(id string, first, limit int, opts ...prospectkit.PageOption) iter.Seq2[string, error]
}

// everyPager has the methods that yield pages by number.
func everyPager(t *testing.T, client *prospectkit.Client) map[string]walk {
	t.Helper()
	found := make(map[string]walk)
	for field, service := range reflect.ValueOf(client).Elem().Fields() {
		if !field.IsExported() || field.Type.Kind() != reflect.Pointer {
			continue
		}
		for m, method := range service.Methods() {
			signature := method.Type()
			last := signature.NumIn() - 1
			if !strings.HasSuffix(m.Name, "Pages") || last < 0 || signature.In(last) != reflect.TypeFor[[]prospectkit.PageOption]() {
				continue
			}
			var w walk
			for in := range signature.Ins() {
				w.ids = w.ids || in.Kind() == reflect.String
				if in.Kind() == reflect.Struct {
					_, w.begins = in.FieldByName("PageNum")
					_, w.limits = in.FieldByName("Limit")
				}
			}
			w.from = func(id string, first, limit int, opts ...prospectkit.PageOption) iter.Seq2[string, error] {
				in := []reflect.Value{reflect.ValueOf(t.Context())}
				for i := 1; i < last; i++ {
					value := reflect.New(signature.In(i)).Elem()
					if value.Kind() == reflect.String {
						value.SetString(id)
					} else {
						value.FieldByName("PageNum").SetInt(int64(first))
						value.FieldByName("Limit").SetInt(int64(limit))
					}
					in = append(in, value)
				}
				return numbersOf(method.CallSlice(append(in, reflect.ValueOf(opts)))[0])
			}
			found[field.Name+"."+m.Name] = w
		}
	}
	require.Contains(t, found, "Lists.RowsPages")
	return found
}

// numbersOf are the last digits of the ids on the pages of an iterator.
func numbersOf(pages reflect.Value) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for page, failed := range pages.Seq2() {
			if err, ok := reflect.TypeAssert[error](failed); ok {
				yield("", err)
				return
			}
			for _, item := range page.Elem().FieldByName("Items").Seq2() {
				if text := fmt.Sprint(item.Interface()); !yield(regexp.MustCompile(`"id":"a0+(\d)"`).FindStringSubmatch(text)[1], nil) {
					return
				}
			}
		}
	}
}

// allOf joins what a walk yields.
func allOf(t *testing.T, walk iter.Seq2[string, error]) (all string) {
	t.Helper()
	for item, err := range walk {
		require.NoError(t, err)
		all += item
	}
	return all
}

// begunOn is what a walk delivers that begins on a page and starts again there with the checkpoint that it leaves.
func begunOn(t *testing.T, w walk, first int) (all string) {
	t.Helper()
	var progress prospectkit.Progress
	for range 2 {
		progress.ResumeFrom = progress.Checkpoint()
		all = allOf(t, w.from(tests.ListID, first, 1, prospectkit.WithProgress(&progress)))
	}
	return all
}
