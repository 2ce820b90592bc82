package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/require"
)

// TestTheBillNamesWhatIsLinked: three modules of others, each with licence and checksum, and nothing that only tests need.
func TestTheBillNamesWhatIsLinked(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, write(&out, "../../..", "v1.2.3"))
	text := out.String()
	var bom cyclonedx.BOM
	require.NoError(t, cyclonedx.NewBOMDecoder(&out, cyclonedx.BOMFileFormatJSON).Decode(&bom))
	require.Equal(t, "pkg:golang/example.com/prospectkit@v1.2.3", bom.Metadata.Component.PackageURL)
	var names []string
	for _, c := range *bom.Components {
		names = append(names, c.Name)
		require.NotEmpty(t, (*c.Licenses)[0].License.ID)
		require.Len(t, (*c.Hashes)[0].Value, 64)
	}
	require.Equal(t, []string{
		"github.com/google/go-querystring", "github.com/hashicorp/go-cleanhttp", "github.com/hashicorp/go-retryablehttp",
	}, names)

	require.Regexp(t, "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", bom.SerialNumber)
	_, err := time.Parse(time.RFC3339, bom.Metadata.Timestamp)
	require.NoError(t, err)
	needs := map[string][]string{}
	for _, d := range *bom.Dependencies {
		for _, ref := range *d.Dependencies {
			_, name, _ := strings.Cut(ref, "/")
			needs[d.Ref] = append(needs[d.Ref], name[:strings.Index(name, "@")])
		}
	}
	require.Len(t, *bom.Dependencies, 4, "all of them, and the library")
	require.Equal(t, []string{"github.com/google/go-querystring", "github.com/hashicorp/go-retryablehttp"}, needs[bom.Metadata.Component.BOMRef])
	require.Equal(t, []string{"github.com/hashicorp/go-cleanhttp"}, needs[(*bom.Components)[2].BOMRef])

	var again bytes.Buffer
	require.NoError(t, write(&again, "../../..", "v1.2.3"))
	require.Equal(t, text, again.String(), "the same commit makes the same bill")
}
