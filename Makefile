# Everything that the project needs is installed by these targets, from the Go module proxy and PyPI.

PYTHON ?= python3
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: test go interop cluster lint build clean

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

# Units on real clusters of this machine. Slurm comes from Debian's packages, which takes root; without it its test is skipped and says so.
cluster: .venv-ray/installed
	@command -v slurmctld slurmd munged >/dev/null || ! command -v apt-get >/dev/null || test "$$(id -u)" != 0 || \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends slurm-wlm munge >/dev/null; }
	.venv-ray/bin/python -m pytest -q -rs interop/cluster

.venv-ray/installed: interop/cluster/requirements.txt
	$(PYTHON) -m venv .venv-ray
	.venv-ray/bin/python -m pip install --quiet --disable-pip-version-check "$$(grep '^uv==' interop/cluster/requirements.txt)"
	.venv-ray/bin/uv pip install --quiet --python .venv-ray/bin/python -r interop/cluster/requirements.txt
	touch $@

clean:
	rm -rf bin .venv .venv-ray
