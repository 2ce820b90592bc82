package budget

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is expected does not depend on the order in which responses are reported that the service sent at the same moment.
func TestExpectedInAnyOrder(t *testing.T) {
	numbers := make([]int, 50)
	for i := range numbers {
		numbers[i] = i
	}
	backwards := slices.Clone(numbers)
	slices.Reverse(backwards)
	apart := make([]int, 50)
	for i := range apart {
		apart[i] = i * 17 % 50
	}
	for name, order := range map[string][]int{"as sent": numbers, "backwards": backwards, "apart": apart} {
		t.Run(name, func(t *testing.T) {
			s := opened(lists(), told(120, 119, time.Minute))
			permits, _ := take(s, second, 50)
			want, _ := s.Expected(2*second, 60, Interactive, second)
			require.Greater(t, want, 10*second)
			for _, n := range order {
				s.Report(2*second, permits[n], told(120, 118-n, 58*time.Second))
				at, _ := s.Expected(2*second, 60, Interactive, second)
				require.InDelta(t, float64(want), float64(at), float64(second), "after response %d", n)
			}
		})
	}
}

// A minute that gave back once before its reset likely slides: what is expected goes by that, although no request is admitted by it yet.
func TestExpectedOfAMinuteThatLikelySlides(t *testing.T) {
	s := opened(lists(), told(120, 119, time.Minute))
	permits, _ := take(s, second, 100)
	for i, p := range permits {
		s.Report(second+Instant(i)*second/2, p, told(120, 118-i, 59*time.Second-time.Duration(i)*time.Second/2))
	}
	require.Zero(t, s.Others.Slides)
	now := 62 * second
	probe := s.Take(now, Interactive)
	require.True(t, probe.Granted)
	s.Report(now, probe.Permit, told(120, 22, 4*time.Second))
	require.EqualValues(t, 1, s.Others.Slides)
	near, _ := s.Expected(now, 30, Interactive, second)
	far, _ := s.Expected(now, 60, Interactive, second)
	require.Greater(t, far-near, 10*second)
}
