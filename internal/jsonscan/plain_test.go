package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// sameNumber holds every way to read a number against encoding/json and strconv. The number comes second, and in the third of three
// objects, because what is read on the spot is what was learnt before.
func sameNumber(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsAny(text, `"{}[]`) || strings.TrimSpace(text) != text {
		return
	}
	for _, name := range []string{"int", "long", "small", "float", "single", "bool", "name"} {
		same[flat](t, fmt.Appendf(nil, `{"x":0,"%s":%s}`, name, text))
	}
	c := New([]byte(text))
	got, ok := c.IntOK()
	if c.End() != nil {
		require.False(t, json.Valid([]byte(text)), text)
		return
	}
	want, err := strconv.Atoi(text)
	if f, _ := strconv.ParseFloat(text, 64); err != nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 && int64(int(int64(f))) == int64(f) && text[0] <= '9' {
		want, err = int(f), nil
	}
	require.Equal(t, err == nil, ok, text)
	if ok {
		require.Equal(t, want, got, text)
	}
	var number struct{ X, Float float64 }
	if json.Unmarshal(fmt.Appendf(nil, `{"Float":%s}`, text), &number) != nil {
		return
	}
	d := NewDecoder[struct{ X, Float float64 }]()
	defer d.Release()
	c = New(fmt.Appendf(nil, `[{"X":1,"Float":7},{"X":1,"Float":%s}]`, text))
	read := number
	for c.Array(); c.Element(); {
		require.NoError(t, d.Decode(&c, &read))
	}
	require.Equal(t, math.Float64bits(number.Float), math.Float64bits(read.Float), text) // Equal would take -0 for 0
}

var numbers = []string{
	"0", "-0", "0.0", "-0.0", "-0.5", "-0e0", "00", "01", "-01", "0.", ".5", "-", "--1", "+1", "1.", "1.e5", "1..2", "1.2.3", "1e", "1e+", "1E5", "1e22", "1e23", "1e-22", "1.5e3", "0x1", "1_0", "1a",
	"99999999999999999", "999999999999999999", "-999999999999999999", "1000000000000000000", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"18446744073709551617", "2147483647", "2147483648", "-2147483648", "-2147483649", "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
	"900719925474099.2", "900719925474099.3", "0.9007199254740993", "90071992547409.93", "999999999999999.9", "0.000000000000000001", "0.00000000000000001", "0.000000000000000000001",
	"0.1", "0.3", "123456.78", "123456789012345.678", "1234567890123456789.5", "0.30000000000000004", "1e400", "-1e400", "1e-400", "3.4028235e38", "16777217", "16777216.5", "1.0", "12.000", "true", "false", "null", "nul", "truex",
}

func TestNumbers(t *testing.T) {
	for _, text := range numbers {
		sameNumber(t, text)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		text := strconv.FormatUint(r.Uint64()>>r.IntN(64), 10)
		if at := r.IntN(25); at < len(text) {
			text = text[:at] + "." + text[at:]
		}
		sameNumber(t, strings.Repeat("-", r.IntN(2))+text)
	}
}

func FuzzNumber(f *testing.F) {
	for _, text := range numbers {
		f.Add(text)
	}
	f.Fuzz(sameNumber)
}

// tree reads any value with the cursor alone.
func tree(c *Cursor) any {
	switch {
	case c.Is('{'):
		m := map[string]any{}
		c.Object()
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			name := string(key)
			m[name] = tree(c)
		}
		return m
	case c.Is('['):
		list := []any{}
		for c.Array(); c.Element(); {
			list = append(list, tree(c))
		}
		return list
	case c.Is('"'):
		return c.String()
	case c.Is('t'), c.Is('f'):
		return c.Bool()
	case c.Null():
		return nil
	}
	return json.Number(c.Value())
}

// sameTree holds the cursor against encoding/json where keys are learnt: in arrays, of the text itself and of others between.
func sameTree(t *testing.T, data []byte) {
	t.Helper()
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return
	}
	data = fmt.Appendf(nil, `[%s,{"id":"x","name":{"id":[{"b":1}]}},%[1]s,[{"b":2,"id":3}],%[1]s]`, data)
	c := New(data)
	got := tree(&c)
	require.Equal(t, json.Valid(data), c.End() == nil, string(data))
	if c.Err() != nil {
		return
	}
	var want any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	require.NoError(t, d.Decode(&want))
	require.Equal(t, want, got)
}

var trees = []string{
	`{"a":1,"b":2,"c":3}`, `{"a":1,"c":3,"b":2}`, `{"b":1}`, `{"a":1,"a":2,"b":3}`, `{"\u0061":1,"b":2}`, `{"a":1,"\u0062":2}`, `{"a":1 , "b":2}`, `{"a": 1,"b" :2}`, `{"a":1,"bb":2}`, `{"a":1,"b":2`,
	`{"a":1,"b"2}`, `{"a":1,,"b":2}`, `{"a":1},{,"a":1}`, `{"a":1,"b":2,}`, `{"id":"x","name":{"id":"y","name":"z"}}`, `{"a":{"a":{"a":[{"a":1},{"a":2}]},"b":3}}`, `{"":1,"":2}`, `{"a":[],"b":{}}`, `{"a":[{}],"b":[{"b":1}]}`,
	"{\"\xff\":1,\"a\":2}", `{"a":tru,"b":1}`, `{"a":1}}`, `{"a":1]`, `1`, `"x"`, `{"a":"b\n","b":"ü"}`,
}

func TestCursorLearnsKeys(t *testing.T) {
	for _, text := range append(trees, objects...) {
		sameTree(t, []byte(text))
	}
	var many bytes.Buffer
	for i := range 3 * maxKeys {
		fmt.Fprintf(&many, `,"k%d":%d,"a":%[2]d`, i%(2*maxKeys), i)
	}
	many.WriteString("}")
	many.Bytes()[0] = '{'
	sameTree(t, many.Bytes())
	sameTree(t, []byte(`{"a":1,"b":2}`))
}

func FuzzTree(f *testing.F) {
	for _, text := range append(trees, objects...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameTree(t, data) })
}

// After an error nothing is read, even if it looks like what is expected.
func TestErrorsAreFinal(t *testing.T) {
	data := []byte(`[{"a":1,"b":[],"c":2},{"a":1,"b":[,"c":2}]`)
	c, d := New(data), NewDecoder[flat]()
	for c.Array(); c.Element(); {
		_ = d.Decode(&c, new(flat))
	}
	require.Error(t, c.End())

	c = New(data)
	x := NewRecordDecoder[indexedRow]()
	for c.Array(); c.Element(); {
		_ = x.Decode(&c, new(indexedRow))
	}
	require.Error(t, c.End())

	c = New([]byte(`{"a":1`))
	var row indexedRow
	require.Error(t, x.Decode(&c, &row))
	require.Zero(t, row)

	c = New(data)
	n := 0
	for c.Array(); c.Element(); {
		for c.Object(); ; n++ {
			if _, ok := c.Member(); !ok {
				break
			}
			c.Skip()
		}
	}
	require.Error(t, c.End())
	require.Equal(t, 5, n)

	for _, text := range []string{`{"a" "b"}`, `{"a" 7}`, `{"a" true}`} {
		c = New([]byte(text))
		c.Object()
		c.Member()
		require.Empty(t, c.String(), text)
		_, ok := c.IntOK()
		require.False(t, ok, text)
		require.False(t, c.Bool(), text)

		c = New([]byte(text))
		c.Object()
		c.Member()
		c.Skip()
		require.Error(t, c.Err(), text)
	}
}

// What one reader has learnt serves others, and does not mislead them.
func TestReadersAreHandedOn(t *testing.T) {
	texts := [][]byte{
		[]byte(`{"id":"a","name":"b","int":1,"float":1.5,"bool":true,"extra":[1]}`),
		[]byte(`{"extra":"x","bool":false,"name":"\u00e9","id":"c"}`),
		[]byte(`{"int":7,"count":3,"flat":{"id":"in","name":"n"},"map":{"k":"v"},"name":"p"}`),
	}
	var wants []deep
	for _, text := range texts {
		var want deep
		require.NoError(t, json.Unmarshal(text, &want))
		wants = append(wants, want)
	}
	var all sync.WaitGroup
	var wrong atomic.Int32
	for worker := range 4 {
		all.Go(func() {
			for i := range 50 {
				text, want := texts[(worker+i)%len(texts)], wants[(worker+i)%len(texts)]
				var got, whole deep
				c, d := New(text), NewDecoder[deep]()
				failed := errors.Join(d.Decode(&c, &got), Unmarshal(text, &whole))
				d.Release()
				if failed != nil || !reflect.DeepEqual(want, got) || !reflect.DeepEqual(want, whole) {
					wrong.Add(1)
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, wrong.Load())
}

// A decoder that nobody uses keeps nothing of what was read but the names of keys.
func TestReleasedDecodersAreEmpty(t *testing.T) {
	text := []byte(`{"id":"a","name":"secret","count":3,"flat":{"id":"secret","name":"sec\u0072et"},"map":{"k":"secret"},"raw":{"a":1},"any":{"b":["secret"]}}`)
	c, d := New(text), NewDecoder[deep]()
	var got deep
	require.NoError(t, d.Decode(&c, &got))
	require.Equal(t, "secret", *got.Name)
	require.Equal(t, map[string]any{"b": []any{"secret"}}, got.Any)
	d.Release()
	require.Zero(t, d.of.Cursor)
	require.NotContains(t, fmt.Sprint(d.of.learnt), "secret")

	long := strings.Repeat("k", maxShared)
	c, x := New(fmt.Appendf(nil, `[{"a":1,"%s":2,"id":"x","z":3},{"a":1,"%[1]s":2,"id":"y","z":3}]`, long)), NewRecordDecoder[indexedRow]()
	for c.Array(); c.Element(); {
		var row indexedRow
		require.NoError(t, x.Decode(&c, &row))
		value, _ := row.index.Lookup(row.text, long)
		require.Equal(t, "2", string(value))
		require.Contains(t, "xy", string(row.id))
	}
	require.NoError(t, c.End())
	x.Release()
	for _, l := range x.of.learnt {
		require.Empty(t, l.keys)
	}
}
