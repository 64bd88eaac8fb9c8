# linerate: `make demo` shows the whole job on a virtual LAN, `make test` proves the parts.

CARGO ?= cargo
# Of `make scenarios`: names of scenarios (and `mtu`, `truth`); how often each fault, each healthy lab.
ONLY ?=
REPEAT ?= 3
HEALTHY ?= 10
# Of `make fuzz`: how long, for all targets together.
MINUTES ?= 13
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: demo test fuzz scenarios test-kills test-experiment-kills test-flips test-hardware bench truth coverage tuning lint setup-demo setup-lint setup-test setup-hardware setup-bench

demo: setup-demo
	$(CARGO) build --release -p linerate
	$(AS_ROOT) "$$($(CARGO) metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/linerate" demo --out target/demo

# One build for all, and one test at a time: many of them make namespaces and start servers. Those that
# mostly wait for a lab, and measure nothing, go two at a time.
test: setup-test
	$(CARGO) test --workspace -- --test-threads=1 --skip together::
	$(CARGO) test --workspace --tests -- --test-threads=2 together::
	fuzz/run replay

# Every parser against new inputs, with a table at the end; `make test` replays those that are kept.
fuzz: setup-test
	fuzz/run minutes $(MINUTES)

# 200 random plans of settings, killed at random moments and undone, and 20 changes that cut the only
# connection; `make test` does a few of them (as root).
test-kills: setup-test
	LINERATE_KILLS=200 $(CARGO) test -p linerate --test it -- --nocapture together::plans::
	LINERATE_CUTS=20 $(CARGO) test -p host --test it -- cuts_the_only_connection

# An experiment killed with `kill -9` at 20 random moments and taken up again; `make test` kills it twice (as root).
test-experiment-kills: setup-test
	LINERATE_EXPERIMENT_KILLS=20 $(CARGO) test -p linerate --test it -- --nocapture experiments::an_experiment_killed

# 1000 bits changed on the path of a signed copy; `make test` changes 200 (as root).
test-flips: setup-test
	LINERATE_FLIPS=1000 $(CARGO) test -p smb --test it -- --nocapture flips::

# The knobs of NICs on real drivers: a kernel in QEMU, by software alone; takes minutes (as root).
test-hardware: setup-hardware
	$(CARGO) test -p host --test hardware

# Every lab of the library of faults, from both ends and from one, the packets that pass on 200 LANs, and the
# ladder against other tools; an hour and a half, with a table at the end and target/scenarios/summary.json.
# REPEAT=1 HEALTHY=1 takes half an hour.
scenarios: setup-test
	$(CARGO) build --release -p linerate --bin linerate --example scenarios
	$(CARGO) run --release -p linerate --example scenarios -- --repeat $(REPEAT) --healthy $(HEALTHY) $(ONLY)

bench: setup-bench
	$(CARGO) build --release -p linerate
	$(CARGO) run --release -p linerate --example speeds

# Presets of `bench` against iperf3's own client and against fio by hand, in turn; five minutes (as root).
truth: setup-test
	$(CARGO) build --release -p linerate --bin linerate --example truth
	$(CARGO) run --release -p linerate --example truth

# How often the intervals hold and a small difference is found, on simulated machines of many kinds.
coverage:
	$(CARGO) run --release -p experiment --example coverage

# How well `tune --goal` finds the best of 128 settings, on simulated machines.
tuning:
	$(CARGO) run --release -p experiment --example tuning

lint: setup-lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items
	scripts/deny

setup-demo:
	@scripts/setup demo

setup-lint:
	@scripts/setup lint

setup-test:
	@scripts/setup test

setup-hardware:
	@scripts/setup hardware

setup-bench:
	@scripts/setup bench
