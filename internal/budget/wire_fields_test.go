package budget

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// fill gives every field another value than zero, and every number one of its own.
func fill(v reflect.Value, n *int) {
	switch *n++; v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Int8:
		v.SetInt(int64(*n % 100))
	default:
		v.SetInt(int64(*n))
	}
}

// Every field of a state is stored.
func TestEveryFieldIsCarried(t *testing.T) {
	n := 0
	var s State
	fill(reflect.ValueOf(&s).Elem(), &n)
	for w := range s.Counts {
		l := WindowCount{Sum: s.Counts[w].Sum, Used: 3, Opened: s.Counts[w].Opened}
		copy(l.At[:l.Used], s.Counts[w].At[:])
		copy(l.N[:l.Used], s.Counts[w].N[:])
		s.Counts[w] = l
	}
	back, last, ok := decodeState(encodeState(&s, 7*second))
	require.True(t, ok)
	require.Equal(t, 7*second, last)
	require.Equal(t, s, back)

	// The slots of a count arrive the oldest first, wherever its ring begins.
	turned := s
	l := &turned.Counts[Day]
	l.Head = len(l.At) - 1
	l.At[l.Head], l.At[0], l.At[1], l.At[2] = l.At[0], l.At[1], l.At[2], 0
	l.N[l.Head], l.N[0], l.N[1], l.N[2] = l.N[0], l.N[1], l.N[2], 0
	back, _, ok = decodeState(encodeState(&turned, 7*second))
	require.True(t, ok)
	require.Equal(t, s, back)
}

// The requests of the window before arrive, too.
func TestTheLastWindowIsCarried(t *testing.T) {
	var s State
	for w := Minute; w <= Day; w++ {
		l := &s.Counts[w]
		for i := range Instant(50) {
			l.expire(i*w.length()/20, w.length())
			l.add(i*w.length()/20, w.length(), 1+int64(i))
		}
	}
	back, _, ok := decodeState(encodeState(&s, second))
	require.True(t, ok)
	for w := Minute; w <= Day; w++ {
		was, is := &s.Counts[w], &back.Counts[w]
		require.Positive(t, was.Past)
		require.Equal(t, []int64{was.Sum, was.Faded, int64(was.Past), int64(was.Used)}, []int64{is.Sum, is.Faded, int64(is.Past), int64(is.Used)})
		for i := -was.Past; i < was.Used; i++ {
			require.Equal(t, was.At[was.slot(i)], is.At[is.slot(i)])
			require.Equal(t, was.N[was.slot(i)], is.N[is.slot(i)])
		}
		require.Zero(t, is.N[is.slot(is.Used)])
	}
}

// A window count arrives, however many of its slots are in use.
func TestAFullWindowCountIsCarried(t *testing.T) {
	for _, n := range [][2]int{{slots, 0}, {0, slots}, {slots, slots}} {
		for w := Minute; w <= Day; w++ {
			var s State
			s.Counts[w].Past, s.Counts[w].Used = n[0], n[1]
			back, _, ok := decodeState(encodeState(&s, second))
			require.True(t, ok)
			require.Equal(t, n[0], back.Counts[w].Past)
			require.Equal(t, n[1], back.Counts[w].Used)
		}
	}
}
