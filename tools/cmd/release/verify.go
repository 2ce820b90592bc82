package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// verify demands that the commit at HEAD is what the tag of the version should be. It tags the modules below the root at this
// commit, returns these tags, and writes what is published with them.
func verify(root, version, dist string) (tags []string, err error) {
	if err := errors.Join(inOrder(root, version, version), tagged(root, version)); err != nil {
		return nil, err
	}
	modules, err := findModules(root)
	if err != nil {
		return nil, err
	}
	if err := checkPath(modules[0].path(), version); err != nil {
		return nil, err
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	text, err := notes(string(changelog), version)
	if err != nil {
		return nil, err
	}
	sums, err := checkModules(root, modules, version)
	if err != nil {
		return nil, err
	}
	bill, err := output(root, filepath.Join(".ci", "bill")) // the step licences of .ci/run says what has to be in it
	if err != nil {
		return nil, err
	}
	if !strings.Contains(bill, fmt.Sprintf(`"version": %q`, version)) {
		return nil, fmt.Errorf("the bill of materials does not name %s", version)
	}
	for _, dir := range published {
		tag := dir + "/" + version
		_, refused := git(root, "tag", tag) // also if the tag is there
		if err := tagged(root, tag); err != nil {
			return nil, errors.Join(err, refused)
		}
		tags = append(tags, tag)
	}
	name := "prospectkit-" + version
	return tags, errors.Join(os.MkdirAll(dist, 0o755), os.WriteFile(filepath.Join(dist, "notes.md"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(dist, name+".sum"), []byte(strings.Join(sums, "\n")+"\n"), 0o644),
		os.WriteFile(filepath.Join(dist, name+".cdx.json"), []byte(bill), 0o644))
}

func checkPath(path, version string) error {
	if strings.HasPrefix(path, "example.com/") {
		return fmt.Errorf("%s is a placeholder: name the path of the module with -path", path)
	}
	return module.Check(path, version)
}

// tagged demands that a tag names the commit at HEAD.
func tagged(root, tag string) error {
	both, err := git(root, "rev-parse", "refs/tags/"+tag+"^{commit}", "HEAD")
	if err != nil {
		return err
	}
	if at, head, _ := strings.Cut(both, "\n"); at != head {
		return fmt.Errorf("the tag %s is at %s, and this commit is %s", tag, at, head)
	}
	return nil
}

// checkModules demands that each published module requires the root at the version, replaces nothing, and knows its checksums.
// It returns the checksums of all published modules.
func checkModules(root string, modules []goModule, version string) (sums []string, err error) {
	sums, err = checksums(root, modules[0], version)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		if !m.published() {
			continue
		}
		if len(m.mod.Replace) > 0 {
			return nil, fmt.Errorf("%s replaces %s, which others ignore", m.dir, m.mod.Replace[0].Old.Path)
		}
		if wanted := (module.Version{Path: modules[0].path(), Version: version}); !slices.ContainsFunc(m.mod.Require, func(r *modfile.Require) bool { return r.Mod == wanted }) {
			return nil, fmt.Errorf("%s does not require %s", m.dir, wanted)
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(m.file), "go.sum"))
		if err != nil {
			return nil, err
		}
		for _, line := range sums[:2] {
			if !strings.Contains(string(text), line+"\n") {
				return nil, fmt.Errorf("%s/go.sum lacks the line %q", m.dir, line)
			}
		}
		own, err := checksums(root, m, version)
		if err != nil {
			return nil, err
		}
		sums = append(sums, own...)
	}
	return sums, nil
}
