// Command sbom prints the software bill of materials of what importing the library and the sandbox brings along, in the
// CycloneDX format:
//
//	go -C tools run ./cmd/sbom v0.1.0 >prospectkit-v0.1.0.cdx.json
package main

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION")
		os.Exit(2)
	}
	if err := write(os.Stdout, "..", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// A linked module, as go list tells it.
type linked struct {
	Path, Version, Sum string
	Main               bool
}

func write(w io.Writer, root, version string) error {
	modules, err := linkedModules(root)
	if err != nil {
		return err
	}
	licences, err := licencesOf(root, modules)
	if err != nil {
		return err
	}
	bom := cyclonedx.NewBOM()
	components := []cyclonedx.Component{}
	for _, m := range modules {
		if m.Main {
			m.Version = version
		}
		c, err := component(m, licences[m.Path])
		if err != nil {
			return err
		}
		if m.Main {
			bom.Metadata = &cyclonedx.Metadata{Component: &c}
		} else {
			components = append(components, c)
		}
	}
	bom.Components = &components
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func component(m linked, licence string) (cyclonedx.Component, error) {
	if licence == "" {
		return cyclonedx.Component{}, fmt.Errorf("%s has no known licence", m.Path)
	}
	c := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
		PackageURL: "pkg:golang/" + m.Path + "@" + m.Version,
		Licenses:   &cyclonedx.Licenses{{License: &cyclonedx.License{ID: licence}}},
	}
	c.BOMRef = c.PackageURL
	if sum, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
		hash, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return c, err
		}
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(hash)}}
	}
	return c, nil
}

// linkedModules are those of the packages that the library and the sandbox link, by path.
func linkedModules(root string) ([]linked, error) {
	out, err := run(root, "list", "-deps", "-json=Module", ".", "./sandbox")
	if err != nil {
		return nil, err
	}
	byPath := map[string]linked{}
	for in := json.NewDecoder(strings.NewReader(out)); ; {
		var pkg struct{ Module *linked }
		if err := in.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if pkg.Module != nil { // the standard library has none
			byPath[pkg.Module.Path] = *pkg.Module
		}
	}
	var modules []linked
	for _, m := range byPath {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b linked) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// licencesOf maps modules to their licences.
func licencesOf(root string, modules []linked) (map[string]string, error) {
	out, err := run(root, "tool", "-modfile=tools/licenses.mod", "go-licenses", "report", ".", "./sandbox")
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		return nil, err
	}
	licences := map[string]string{}
	for _, row := range rows {
		for _, m := range modules {
			if row[0] == m.Path || strings.HasPrefix(row[0], m.Path+"/") { // a row is a package, the topmost below a licence file
				licences[m.Path] = row[2]
			}
		}
	}
	return licences, nil
}

func run(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var errText strings.Builder
	cmd.Stderr = &errText
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, errText.String())
	}
	return string(out), nil
}
