# Aliases; every target is a plain command that works without make.
.PHONY: all check test race format generate api bill lint fuzz
all: check
check: # what a change has to pass
	.ci/run
test:
	go test ./...
race: # on one processor: see raced in .ci/run
	go test -race -cpu 1 -shuffle=on ./...
format:
	go tool -modfile=tools/go.mod golangci-lint fmt ./...
	go tool -modfile=tools/go.mod gofumpt -w tools
generate: # operations.json, docs/operations.md, codes.go
	go generate .
api: # accept the exported API as that of the last release
	go tool -modfile=tools/go.mod apidiff -m -w tools/api/prospectkit.export "$$(go list -m)"
bill: # print the software bill of materials of the library and the sandbox, as CycloneDX
	@.ci/bill
lint:
	.ci/run lint housekeeping
fuzz: # one minute of each target
	.ci/fuzz
