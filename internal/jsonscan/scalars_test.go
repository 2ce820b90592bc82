package jsonscan

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

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
	same[map[string]uint64](t, fmt.Appendf(nil, `{"a":%s}`, text))
	same[map[string]any](t, fmt.Appendf(nil, `{"a":%s,"b":[%[1]s]}`, text))
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
	"0.1", "0.3", "123456.78", "123456789012345.678", "1234567890123456789.5", "0.30000000000000004", "1e400", "-1e400", "1e-400", "3.4028235e38", "16777217", "16777216.5", "1.0", "12.000", "2147483648.0", "-2147483649.0", "1e10", "-1e10", "1e9", "9007199254740991.0",
	"18446744073709551615", "18446744073709551619", "18446744073709551700", "20000000000000000000", "-18446744073709551620", "1844674407370955161.6", "1e+5", "-1.5E+2", "1e-5", "0.00000000000000000000001", "1.00000000000000000000000",
	"54.01413917541504", "65.83766555786133", "-65.83766555786133", // what float64 and float32 round twice
	"9007199254740.993", "-9007199254740.993", "99999999999999999.9", "0.99999999999999999", "-0.99999999999999999", "999999999999999999", "true", "false", "null", "nul", "truex",
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

func TestTimes(t *testing.T) {
	for _, text := range times {
		sameTime(t, text)
	}
}

var times = []string{
	"2026-11-22T10:00:00Z", "2026-11-22T10:00:00.1Z", "2026-11-22T10:00:00.123456789Z", "2026-11-22T10:00:00.1234567890Z", "2026-11-22T10:00:00.Z", "2026-11-22T10:00:00,5Z",
	"2024-02-29T00:00:00Z", "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2100-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-13-01T00:00:00Z",
	"2026-00-10T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T23:60:00Z", "2026-01-01T23:59:60Z", "2026-11-22t10:00:00z", "2026-11-22 10:00:00Z",
	"2026-11-22T10:00:00+00:00", "2026-11-22T10:00:00-23:59", "2026-11-22T10:00:00+24:00", "2026-11-22T1:00:00Z", "2026-11-22T10:00Z", "", "Z", "null", "-2026-11-22T10:00:00Z", "20261-1-22T10:00:00Z",
}

func FuzzTime(f *testing.F) {
	for _, text := range times {
		f.Add(text)
	}
	f.Fuzz(sameTime)
}

func sameTime(t *testing.T, text string) {
	t.Helper()
	data, err := json.Marshal(text)
	require.NoError(t, err)
	var want, got struct{ T time.Time }
	data = fmt.Appendf(nil, `{"T":%s}`, data)
	wantErr := json.Unmarshal(data, &want)
	require.Equal(t, wantErr, Unmarshal(data, &got), text)
	require.Equal(t, want, got, text)

	lenient, err := time.Parse(time.RFC3339Nano, text)
	if !lenient.IsZero() {
		lenient = lenient.UTC()
	}
	at, ok := Time([]byte(text))
	require.Equal(t, lenient, at, text)
	require.Equal(t, err == nil, ok, text)
}
