package credential_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/credential"
)

const limit = time.Minute

func header(token string) []string {
	return []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(token+":"))}
}

// A source may read a file with a line end: space around a token is not part of it, also where the key stays the same.
func TestKeys_SpaceAroundAToken(t *testing.T) {
	next := "key-1\n"
	k := credential.New("key-1", func(context.Context) (string, error) { return next, nil })
	first := k.Current()
	k.Reject(first)
	same, err := k.Get(t.Context(), limit)
	require.NoError(t, err)
	require.Same(t, first, same)
	next = " key-2\r\n"
	k.Reject(same)
	other, err := k.Get(t.Context(), limit)
	require.NoError(t, err)
	require.Equal(t, header("key-2"), other.Header())
}

// Whoever comes while the source is asked waits for the same result, also for its failure.
func TestKeys_OneAskForAll(t *testing.T) {
	for _, failure := range []error{nil, errors.New("vault is sealed")} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			k := credential.New("", func(context.Context) (string, error) {
				asked.Add(1)
				time.Sleep(time.Second)
				return "key-1", failure
			})
			var all sync.WaitGroup
			errs := make([]error, 100)
			for i := range errs {
				all.Go(func() { _, errs[i] = k.Get(t.Context(), limit) })
			}
			all.Wait()
			for _, err := range errs {
				require.ErrorIs(t, err, failure)
			}
			require.EqualValues(t, 1, asked.Load())
		})
	}
}

// The one who asks may give up. That says nothing about the source, so the others ask again.
func TestKeys_OneWhoGivesUpTakesNobodyAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		k := credential.New("", func(ctx context.Context) (string, error) {
			if asked.Add(1) == 1 {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "key-2", nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		gaveUp := make(chan error, 1)
		go func() {
			_, err := k.Get(ctx, limit)
			gaveUp <- err
		}()
		synctest.Wait()
		brief, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		_, err := k.Get(brief, limit)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		key, err := k.Get(t.Context(), limit)
		require.NoError(t, err)
		require.Equal(t, header("key-2"), key.Header())
		require.EqualValues(t, 2, asked.Load())
		require.ErrorIs(t, <-gaveUp, context.DeadlineExceeded)
	})
}

// meanwhile is a context that does something when it is first asked for a value.
type meanwhile struct {
	context.Context //nolint:containedctx // it is one

	do func()
}

func (m *meanwhile) Value(key any) any {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Context.Value(key)
}

// Whoever waits for a key that another call has used by then, and that was rejected, asks for another one.
func TestKeys_RejectedBeforeAWaiterHasIt(t *testing.T) {
	asked := 0
	k := credential.New("", func(context.Context) (string, error) {
		asked++
		return fmt.Sprint("key-", asked), nil
	})
	key, err := k.Get(&meanwhile{t.Context(), func() {
		key, err := k.Get(t.Context(), limit)
		require.NoError(t, err)
		k.Reject(key)
	}}, limit)
	require.NoError(t, err)
	require.Equal(t, header("key-2"), key.Header())
}

// What goes wrong in a source is an error, and the next one who comes asks again, unless the source has not returned.
func TestKeys_BadSources(t *testing.T) {
	broken := errors.New("broken")
	for want, source := range map[string]credential.Source{
		"the token source failed: broken":                func(context.Context) (string, error) { return "", broken },
		"the token source panicked":                      func(context.Context) (string, error) { panic("secret-key") },
		"the token of the source must not be empty":      func(context.Context) (string, error) { return "", nil },
		"the token of the source must not be empty\x00":  func(context.Context) (string, error) { return " \n", nil },
		"the token of the source has a character that n": func(context.Context) (string, error) { return "secret\x00key", nil },
		"the token of the source has a colon":            func(context.Context) (string, error) { return "secret:key", nil },
		"the token source did not return in time":        nil, // it hangs, see below
		"the token source did not return in time\x00":    func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
	} {
		synctest.Test(t, func(t *testing.T) {
			hang := make(chan struct{})
			defer close(hang)
			if want == "the token source did not return in time" {
				source = func(context.Context) (string, error) { <-hang; return "late-key", nil }
			}
			var asked atomic.Int32 // a source that hangs is abandoned
			k := credential.New("", func(ctx context.Context) (string, error) { asked.Add(1); return source(ctx) })
			for n := range 2 {
				began := time.Now()
				_, err := k.Get(t.Context(), limit)
				require.ErrorContains(t, err, strings.TrimSuffix(want, "\x00"))
				require.NotContains(t, err.Error(), "secret")
				require.Equal(t, 1, strings.Count(err.Error(), "the token"))
				require.LessOrEqual(t, time.Since(began), limit+time.Second/5)
				if want == "the token source did not return in time" {
					n = 0 // it still hangs
				}
				require.EqualValues(t, n+1, asked.Load())
			}
			require.Nil(t, k.Current())
		})
	}
}

// A source that ends its goroutine leaves nobody waiting.
func TestKeys_SourceThatExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		k := credential.New("", func(context.Context) (string, error) {
			if asked++; asked == 1 {
				time.Sleep(time.Second)
				runtime.Goexit()
			}
			return "key-2", nil
		})
		go func() { _, _ = k.Get(t.Context(), limit) }()
		synctest.Wait()
		_, err := k.Get(t.Context(), limit)
		require.ErrorContains(t, err, "panicked")
		key, err := k.Get(t.Context(), limit)
		require.NoError(t, err)
		require.Equal(t, header("key-2"), key.Header())
	})
}

// Earlier keys are hidden, too, also by keys with another source; of very many, the last ten.
func TestKeys_Secrets(t *testing.T) {
	asked := 0
	k := credential.New("first-secret", func(context.Context) (string, error) {
		asked++
		return fmt.Sprintf("rotated-secret-%03d-", asked), nil
	})
	k.Reject(k.Current())
	key, err := k.Get(t.Context(), limit)
	require.NoError(t, err)
	other := k.With(func(context.Context) (string, error) { return "other-secret", nil })
	require.Same(t, key, other.Current())
	other.Reject(key)
	_, err = other.Get(t.Context(), limit)
	require.NoError(t, err)
	require.Equal(t, "a [hidden] b", other.Secrets().Hide("a other-secret b"))
	for _, hidden := range []string{"first-secret", "rotated-secret-001-", strings.TrimPrefix(header("first-secret")[0], "Basic ")} {
		require.Equal(t, "a [hidden] b", k.Secrets().Hide("a "+hidden+" b"))
		require.Equal(t, "a [hidden] b", other.Secrets().Hide("a "+hidden+" b"))
	}
	for range 200 {
		k.Reject(k.Current())
		_, err = k.Get(t.Context(), limit)
		require.NoError(t, err)
	}
	for i := range 10 {
		require.Equal(t, "a [hidden] b", k.Secrets().Hide(fmt.Sprintf("a rotated-secret-%03d- b", 192+i)))
	}
	require.Equal(t, "a rotated-secret-191- b", k.Secrets().Hide("a rotated-secret-191- b"), "the list does not grow")
	require.Equal(t, "x", credential.New("", nil).Secrets().Hide("x"))
}

// A source that ignores its context is asked once, whoever comes. The key that it returns late is used.
func TestKeys_SourceThatHangsIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		hang := make(chan struct{})
		k := credential.New("", func(context.Context) (string, error) {
			asked.Add(1)
			<-hang
			return "late-key", nil
		})
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			_, err := k.Get(ctx, limit)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.LessOrEqual(t, time.Since(began), time.Second+time.Second/5)
			cancel()
		}
		time.AfterFunc(time.Second, func() { close(hang) })
		for range 2 {
			key, err := k.Get(t.Context(), limit)
			require.NoError(t, err)
			require.Equal(t, header("late-key"), key.Header())
		}
		require.EqualValues(t, 1, asked.Load())
	})
}
