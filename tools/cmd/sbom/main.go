// Command sbom prints the software bill of materials of what importing the library and the sandbox brings along, in the
// CycloneDX format:
//
//	go -C tools run ./cmd/sbom v0.1.0 >prospectkit-v0.1.0.cdx.json
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "Usage: go -C tools run ./cmd/sbom VERSION\n\nPrints the bill of materials of this clone as CycloneDX JSON. Time and serial number are those of the commit.\n")
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(os.Stdout, "..", flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// A linked module, as go list tells it.
type linked struct {
	Path, Version, Sum string
	Main               bool

	needs map[string]bool // paths of the modules whose packages it imports
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
	if err := stamp(bom, root, version); err != nil {
		return err
	}
	components, dependencies, refs := []cyclonedx.Component{}, []cyclonedx.Dependency{}, map[string]string{}
	for _, m := range modules {
		if m.Main {
			m.Version = version
		}
		c, err := component(m, licences[m.Path])
		if err != nil {
			return err
		}
		if m.Main {
			bom.Metadata.Component = &c
		} else {
			components = append(components, c)
		}
		refs[m.Path] = c.BOMRef
	}
	for _, m := range modules {
		needs := []string{}
		for _, path := range slices.Sorted(maps.Keys(m.needs)) {
			needs = append(needs, refs[path])
		}
		dependencies = append(dependencies, cyclonedx.Dependency{Ref: refs[m.Path], Dependencies: &needs})
	}
	bom.Components, bom.Dependencies = &components, &dependencies
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// stamp says when the bill was made and which one it is, by the commit: the same commit and version make the same bill.
func stamp(bom *cyclonedx.BOM, root, version string) error {
	out, err := output(root, "git", "log", "-1", "--format=%ct %H")
	if err != nil {
		return err
	}
	var seconds int64
	var commit string
	if _, err := fmt.Sscan(out, &seconds, &commit); err != nil {
		return fmt.Errorf("git log: %w", err)
	}
	id := sha256.Sum256([]byte(commit + " " + version))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUID of version 8: made by a rule of its own
	bom.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
	bom.Metadata = &cyclonedx.Metadata{Timestamp: time.Unix(seconds, 0).UTC().Format(time.RFC3339)}
	return nil
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
	out, err := run(root, "list", "-deps", "-json=ImportPath,Imports,Module", ".", "./sandbox")
	if err != nil {
		return nil, err
	}
	byPath, moduleOf := map[string]*linked{}, map[string]string{}
	for in := json.NewDecoder(strings.NewReader(out)); ; { // a package comes after those that it imports
		var pkg struct {
			ImportPath string
			Imports    []string
			Module     *linked
		}
		if err := in.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if pkg.Module == nil { // the standard library has none
			continue
		}
		m := byPath[pkg.Module.Path]
		if m == nil {
			m = pkg.Module
			m.needs, byPath[m.Path] = map[string]bool{}, m
		}
		moduleOf[pkg.ImportPath] = m.Path
		for _, imported := range pkg.Imports {
			if of := moduleOf[imported]; of != "" && of != m.Path {
				m.needs[of] = true
			}
		}
	}
	var modules []linked
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		modules = append(modules, *byPath[path])
	}
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

func run(dir string, args ...string) (string, error) { return output(dir, "go", args...) }

func output(dir, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	var errText strings.Builder
	cmd.Stderr = &errText
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, args[0], err, errText.String())
	}
	return string(out), nil
}
