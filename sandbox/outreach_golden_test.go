package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// TestGoldenOutreach pins whole answers of campaigns, facts and hubs.
func TestGoldenOutreach(t *testing.T) {
	sb := sandbox.New(t, outreachOptions()...)
	c := inPlace(t, sb)
	var story strings.Builder
	tell := func(method, path string, body any) { tellOne(t, &story, sb, c, method, path, body) }
	tell("POST", campaigns, object{"name": "Q1", "channels": []string{"email", "social"}, "listIds": []string{reached}})
	tell("GET", campaigns, nil)
	tell("PATCH", campaignPath(drafted), object{"listIds": []string{linked}})
	tell("PATCH", campaignPath(drafted), object{"steps": []object{{"type": "email", "subject": "Hi {{firstName}}", "topic": "savings"}}})
	tell("GET", campaignPath(drafted, "steps"), nil)
	tell("POST", campaignPath(drafted, "steps", id(51), "preview"), nil)
	tell("POST", campaignPath(bare, "approve"), nil)
	tell("POST", campaignPath(drafted, "approve"), nil)
	tell("POST", campaignPath(drafted, "approve"), nil)
	sb.Advance(time.Hour)
	tell("POST", campaignPath(drafted, "approve"), nil)
	tell("GET", campaignPath(drafted, "scheduled-sends"), nil)
	tell("PATCH", "/business/scheduled-sends/"+id(61), object{"subject": "New", "dueAt": "2026-04-01T08:00:00Z"})
	tell("PATCH", "/business/scheduled-sends/"+id(62), object{"subject": "New"})
	tell("PATCH", facts+fact, object{"claim": "Teams save two days a week."})
	tell("PATCH", facts+fact, object{"claim": "A discount of $5."})
	tell("PATCH", facts+fact, object{"category": "gossip", "claim": ""})
	tell("GET", hubs, nil)
	tell("GET", hubs+"/"+ready+"/pages", nil)
	tell("GET", hubs+"/"+ancient+"/pages", nil)
	tell("POST", hubs+"/default", object{"knowledgeHubId": foreign})
	tell("POST", hubs+"/default", object{"knowledgeHubId": ancient})

	golden := filepath.Join("testdata", "outreach.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(story.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), story.String())
}
