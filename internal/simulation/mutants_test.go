package simulation

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/internal/tests"
)

var mutantsFlag = flag.String("mutants", "", "plants the defects whose names match, and demands that TestSimulation finds each; -update notes the seeds")

var (
	mutantsFile = filepath.Join("testdata", "mutants.txt")
	brokenSeed  = regexp.MustCompile(`seed (\d+)(:[\w.,]*): (.*)`)
	unescaped   = strings.NewReplacer(`\n`, "\n", `\t`, "\t")
)

// Every defect of the table can be planted; with -mutants, each is, and a seed has to find it: docs/simulation.md.
func TestSimulation_Mutants(t *testing.T) {
	table, err := os.ReadFile(mutantsFile)
	require.NoError(t, err)
	lines := strings.Split(string(table), "\n") // three for each, after the first, which says what they are; the last is empty
	require.Equal(t, 2, len(lines)%3)
	t.Cleanup(func() { // when all have ended
		if *golden.Update {
			require.NoError(t, os.WriteFile(mutantsFile, []byte(strings.Join(lines, "\n")), 0o600))
		}
	})
	for i := 1; i+2 < len(lines); i += 3 {
		is := strings.Split(lines[i], " | ")
		require.Len(t, is, 3, lines[i])
		t.Run(is[0], func(t *testing.T) {
			file := tests.Path(is[1])
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			old, planted := unescaped.Replace(lines[i+1][2:]), unescaped.Replace(lines[i+2][2:])
			require.Equal(t, 1, strings.Count(string(text), old), "%s has changed: bring the table up to date", file)
			if *mutantsFlag != "" && regexp.MustCompile(*mutantsFlag).MatchString(is[0]) {
				t.Parallel()
				is[2] = plant(t, file, strings.Replace(string(text), old, planted, 1))
				lines[i] = strings.Join(is, " | ")
			}
		})
	}
}

// plant returns the first of a thousand seeds that finds a defect in a file.
func plant(t *testing.T, file, text string) (seed string) {
	t.Helper()
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(changed, []byte(text), 0o600))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, replace, 0o600))
	test := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", overlay, "-run", "^TestSimulation$", ".", "-seeds", "1000")
	test.Env = append(os.Environ(), "GOMAXPROCS=1") // beside others
	out, err := test.CombinedOutput()
	found := brokenSeed.FindStringSubmatch(string(out))
	require.Error(t, err, "nothing found: %s", out)
	require.NotNil(t, found, "%s", out)
	faults := strings.Split(found[2], ",")
	require.LessOrEqual(t, len(faults), fewFaults, "%s", found[0])
	t.Logf("seed %s%s, %d faults: %s", found[1], found[2], len(faults), found[3])
	return found[1]
}
