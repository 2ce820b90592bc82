package exchange

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func noise(n int) []byte {
	text := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(text)
	return text
}

func TestReadAll(t *testing.T) {
	none := func() {}
	for _, size := range []int{0, 1, 99, 100} {
		text := strings.Repeat("x", size)
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
			"with the end": iotest.DataErrReader(strings.NewReader(text)),
		} {
			got, err := readAll(nil, r, 100, none)
			require.NoError(t, err, name)
			require.Equal(t, text, string(got), name)
		}
	}
	got, err := readAll([]byte("what is there, "), strings.NewReader("and more"), 100, none)
	require.NoError(t, err)
	require.Equal(t, "what is there, and more", string(got))

	for _, size := range []int{101, 1000, 100_000} {
		got, err = readAll(nil, bytes.NewReader(noise(size)), 100, none)
		require.Equal(t, &TooLargeError{100}, err)
		require.EqualError(t, err, "the response is longer than 100 bytes")
		require.Equal(t, noise(100), got)
	}

	cut := &url.Error{Op: "Get", URL: "https://host/lists/1", Err: io.ErrUnexpectedEOF}
	got, err = readAll(nil, io.MultiReader(strings.NewReader("some"), iotest.ErrReader(cut)), 100, none)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotContains(t, err.Error(), "host")
	require.Equal(t, "some", string(got))
}

// An announced length is taken at its word only up to a bound, and what is there is used.
func TestSized(t *testing.T) {
	there := make([]byte, 0, 1000)
	for _, c := range []struct {
		size          int64
		least, atMost int
		same          bool
	}{
		{0, 1000, 1000, true},
		{999, 1000, 1000, true},
		{1000, 1001, 1200, false},
		{-1, 4<<10 + 1, 5 << 10, false},
		{1 << 20, 1<<20 + 1, 5 << 18, false},
		{1 << 40, 4<<20 + 1, 5 << 20, false},
	} {
		got := sized(there, c.size)
		require.Empty(t, got)
		require.GreaterOrEqual(t, cap(got), c.least, "%d bytes", c.size)
		require.LessOrEqual(t, cap(got), c.atMost, "%d bytes", c.size)
		require.Equal(t, c.same, &got[:1][0] == &there[:1][0], "%d bytes", c.size)
	}
	large := make([]byte, 0, 8<<10)
	got := sized(large, -1)
	require.Equal(t, 8<<10, cap(got), "a text of unknown size needs no larger one")
}

// What was read is wiped before another response may use its place, and what is too large to keep is not kept.
func TestRelease(t *testing.T) {
	before := Wipe
	t.Cleanup(func() { Wipe = before })
	var wiped []byte
	Wipe = func(b []byte) { wiped = bytes.Clone(b) }
	Release(nil)
	require.Nil(t, wiped)
	body := append(make([]byte, 0, maxBuffer), "of one"...)
	Release(&body)
	require.Equal(t, "of one", string(wiped))
	require.Empty(t, body)
	large := append(make([]byte, 0, maxBuffer+1), "of another"...)
	Release(&large)
	require.Equal(t, "of one", string(wiped))
	require.Equal(t, "of another", string(large))
}

func TestGunzip(t *testing.T) {
	text := noise(100_000)
	unpack := func(packed []byte, limit int64) ([]byte, error) {
		body, err := gunzip(&packed, limit)
		require.Empty(t, packed, "released")
		defer Release(body)
		return bytes.Clone(*body), err
	}
	got, err := unpack(zipped(t, text), 1<<20)
	require.NoError(t, err)
	require.Equal(t, text, got)
	got, err = unpack(zipped(t, text), int64(len(text)))
	require.NoError(t, err)
	require.Equal(t, text, got)
	got, err = unpack(zipped(t, text), int64(len(text))-1)
	require.Equal(t, &TooLargeError{int64(len(text)) - 1}, err)
	require.Equal(t, text[:len(text)-1], got)
	got, err = unpack(zipped(t, text)[:50_000], 1<<20)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, text[:len(got)], got)
	require.Greater(t, len(got), 40_000)
	_, err = unpack([]byte{0x1f, 0x8b, 0, 0, 0, 0, 0, 0, 0, 0}, 1<<20)
	require.ErrorIs(t, err, gzip.ErrHeader)
	_, err = unpack(zipped(t, text), 1<<20)
	require.NoError(t, err, "the decompressor is as new")
}

// The length at the end of a compressed text may be false: it reserves no more than the text can hold, or than may be read.
func TestGunzip_FalseLength(t *testing.T) {
	for limit, most := range map[int64]int{1 << 30: 2_000_000, 10_000: 12_000} {
		packed := zipped(t, noise(1000))
		binary.LittleEndian.PutUint32(packed[len(packed)-4:], 1<<30)
		for cap(*borrow()) > 0 { // no larger buffer of another test is reused
		}
		body, err := gunzip(&packed, limit)
		require.ErrorIs(t, err, gzip.ErrChecksum)
		require.LessOrEqual(t, cap(*body), most)
		require.Equal(t, noise(1000), *body)
	}
}
