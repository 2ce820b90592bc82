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

	"example.com/prospectkit/internal/tests"
)

var mutantsFlag = flag.String("mutants", "", "plants the defects whose names match, and demands that TestSimulation finds each")

// A mutant is a planted defect.
type mutant struct{ name, file, old, planted string }

func mutants(t *testing.T) (all []mutant) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "mutants.txt"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	space := strings.NewReplacer(`\n`, "\n", `\t`, "\t")
	for i := 0; i+2 < len(lines); i += 3 {
		name, file, _ := strings.Cut(lines[i], " | ")
		all = append(all, mutant{name, tests.Path(file), space.Replace(lines[i+1][2:]), space.Replace(lines[i+2][2:])})
	}
	return all
}

var brokenSeed = regexp.MustCompile(`seed (\d+)([:\d.,]*): (.*)`)

// Every defect of the table can be planted; with -mutants, each is, and a seed has to find it: docs/simulation.md.
func TestSimulation_Mutants(t *testing.T) {
	all := mutants(t)
	require.Len(t, all, 69)
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			text, err := os.ReadFile(m.file)
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(string(text), m.old), "%s has changed: bring the table up to date", m.file)
			if *mutantsFlag == "" || !regexp.MustCompile(*mutantsFlag).MatchString(m.name) {
				return
			}
			dir := t.TempDir()
			changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
			require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(text), m.old, m.planted, 1)), 0o600))
			replace, err := json.Marshal(map[string]any{"Replace": map[string]string{m.file: changed}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(overlay, replace, 0o600))
			out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", overlay, "-run", "^TestSimulation$", ".", "-seeds", "1000").CombinedOutput()
			found := brokenSeed.FindStringSubmatch(string(out))
			require.Error(t, err, "nothing found: %s", out)
			require.NotNil(t, found, "%s", out)
			t.Logf("seed %s, %d faults: %s", found[1], strings.Count(found[2], "."), found[3])
		})
	}
}
