package main

import (
	"bytes"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/require"
)

// TestTheBillNamesWhatIsLinked: three modules of others, each with licence and checksum, and nothing that only tests need.
func TestTheBillNamesWhatIsLinked(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, write(&out, "../../..", "v1.2.3"))
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
}
