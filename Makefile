# Everything that the project needs is installed by these targets, from the Go module proxy and PyPI.

PYTHON ?= python3
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: test go interop cluster lint build clean trainers-table

# All checks and all tests, Go and Python.
test: lint go interop cluster

build:
	go build -o bin/brimful ./cmd/brimful

lint:
	@test -z "$$(gofmt -l .)" || { echo "gofmt: these files are not formatted:"; gofmt -l .; exit 1; }
	go vet ./...
	go mod tidy -diff
	go run $(STATICCHECK) ./...

# Every test, the fuzz targets on their seeds; then all but the longest with the race detector.
go:
	go test ./...
	go test -race -short ./...
	cd interop/arrowv17 && go vet ./... && go test ./...

# The files as Python readers and trainers see them.
interop: .venv/installed
	.venv/bin/python -m pytest -q interop/tests

.venv/installed: interop/requirements.txt
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check "$$(grep '^uv==' interop/requirements.txt)"
	.venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps -r interop/requirements.txt
	touch $@

# Units on real clusters of this machine, whose machines are namespaces, which takes root. Slurm comes from Debian's packages, Ray from PyPI.
# What can not be had here is skipped, and the reason printed.
cluster: .venv/installed
	@command -v slurmctld slurmd munged >/dev/null || ! command -v apt-get >/dev/null || test "$$(id -u)" != 0 || \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends slurm-wlm munge >/dev/null; } || \
		echo "apt-get can not install slurm-wlm and munge"
	.venv/bin/python -m pytest -q -rs interop/cluster

# The table of what trainers make of the files, from the tests that compare them.
trainers-table: .venv/installed
	BRIMFUL_TABLE=docs/trainers-table.md .venv/bin/python -m pytest -q interop/tests/test_layouts.py interop/tests/test_parity.py

# What bench/peers compares with; no test needs it.
.venv-peers/installed: bench/peers/requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check "$$(grep '^uv==' bench/peers/requirements.txt)"
	.venv-peers/bin/uv pip install --quiet --python .venv-peers/bin/python --no-deps -r bench/peers/requirements.txt
	touch $@

clean:
	rm -rf bin .venv .venv-peers
