package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// supported are the versions of Go that .ci/run tests with, the oldest and the newest.
const supported = "go1.26.8,go1.27.4"

const program = "example.com/prospectkit/benchmarks/cmd/compare"

// goCommand prepares a go command of a toolchain, which Go loads if it is not there.
func goCommand(ctx context.Context, toolchain string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+toolchain)
	return cmd
}

// choose takes a list of toolchains, such as supported or local, and keeps the version of each.
func (o *options) choose(ctx context.Context, toolchains string) error {
	for name := range strings.SplitSeq(toolchains, ",") {
		cmd := goCommand(ctx, name, "env", "GOVERSION")
		cmd.Stderr = o.log
		version, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s cannot be had: %w", name, err)
		}
		o.gos = append(o.gos, strings.TrimSpace(string(version)))
	}
	return nil
}

// build links each contender into its own binary for each version of Go, so that none pays for the size of the others.
func (o *options) build(ctx context.Context, dir string) error {
	o.binaries = make(map[string]string)
	for _, version := range o.gos {
		for _, c := range contenders() {
			tag := c.tag()
			if o.binary(version, &c) != "" || !o.takes(&c, version) {
				continue
			}
			fmt.Fprintln(o.log, "building", tag, "with", version)
			path := filepath.Join(dir, version+"-"+tag)
			cmd := goCommand(ctx, version, "build", "-tags", "only,"+tag, "-o", path, program)
			cmd.Stderr = o.log
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("go build, which has to run below benchmarks: %w", err)
			}
			o.binaries[version+" "+tag] = path
		}
	}
	return nil
}

// binary is where a contender is linked; empty for this binary.
func (o *options) binary(version string, c *contender) string {
	return o.binaries[version+" "+c.tag()]
}

// takes reports whether a contender is asked for and can be built.
func (o *options) takes(c *contender, version string) bool {
	return o.contenders.MatchString(c.name) && c.runs(version)
}

// here is the version of this binary alone, for runs that build none.
func here() []string { return []string{runtime.Version()} }
