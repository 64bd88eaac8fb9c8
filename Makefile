# linerate: `make demo` shows the whole job on a virtual LAN, `make test` proves the parts.

CARGO ?= cargo
# Where `scripts/setup` links a Rust that is not on the path of programs.
export PATH := $(CURDIR)/target/rust:$(HOME)/.cargo/bin:$(PATH)
# Of `make scenarios`: names of scenarios (and `mtu`, `truth`); how often each fault, each healthy lab, from each view.
ONLY ?=
REPEAT ?= 3
HEALTHY ?= 5
# Of `make fuzz`: how long, for all targets together.
MINUTES ?= 13
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# What only developers run, and the program that it runs, which lies beside it.
XTASK = $(CARGO) run --release -p xtask --
BUILD_LINERATE = $(CARGO) build --release -p linerate --bin linerate

.PHONY: check windows interop demo dist smoke release test fuzz scenarios test-kills test-experiment-kills test-flips test-sessions test-model test-hardware bench truth coverage tuning differences lint setup-demo setup-lint setup-test setup-interop setup-windows setup-hardware setup-bench setup-dist

demo: setup-demo
	$(CARGO) build --release -p linerate
	$(AS_ROOT) "$$($(CARGO) metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/linerate" demo --out target/demo

# What needs neither root nor a lab: format, lints, unit and property tests (`tests/system` of a crate needs both).
check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) test --quiet --workspace --lib --bins --test it --test design --test replay

# One build for all, and one test at a time: many of them make namespaces and start servers. Those that
# mostly wait for a lab, and measure nothing, go two at a time. What fails in one crate hides nothing of the others.
test: setup-test
	$(CARGO) test --workspace --no-fail-fast -- --test-threads=1 --skip together::
	$(CARGO) test --workspace --no-fail-fast --tests -- --test-threads=2 together::
	$(CARGO) test -p smb --features model --lib -- thread_interleaving_model::

# The program for Windows, in target/windows, and what the tests need beside it that try it in Wine.
windows: setup-windows
	scripts/windows

# Every job on servers of other makers, on that of the Linux kernel in QEMU (with /dev/kvm where that runs it), and on Samba
# in other versions and settings (as root); 20 minutes. Writes docs/interop.md and target/interop/summary.json; `make test`
# does some jobs on three of them.
interop: setup-interop
	LINERATE_INTEROP=all $(CARGO) test -p linerate --test interop -- --nocapture --test-threads=1

# Every parser against new inputs, with a table at the end; `make test` replays those that are kept.
fuzz: setup-test
	fuzz/run minutes $(MINUTES)

# 200 random plans of settings, killed at random moments and undone, a panic at each command of one, and 20 changes that cut the only
# connection; `make test` does a few of them (as root). With LINERATE_UNDER_TEST=FILE of another program of ours, as
# the one that `make dist` makes.
KILLS ?= 200
test-kills: setup-test
	LINERATE_KILLS=$(KILLS) $(CARGO) test -p linerate --test system -- --nocapture together::random_settings_kill_and_undo:: together::panic_and_restore::
	LINERATE_CUTS=20 $(CARGO) test -p host --test system -- cuts_the_only_connection

# An experiment killed with `kill -9` at 20 random moments and taken up again; `make test` kills it twice (as root).
test-experiment-kills: setup-test
	LINERATE_EXPERIMENT_KILLS=20 $(CARGO) test -p linerate --test system -- --nocapture experiments::an_experiment_killed

# 1000 bits changed on the path of a signed copy; `make test` changes 200 (as root).
test-flips: setup-test
	LINERATE_FLIPS=1000 $(CARGO) test -p smb --test system -- --nocapture bit_errors::

# 10 000 short sessions, all threads on one processor that others want too; `make test` has 100 (as root).
test-sessions: setup-test
	LINERATE_SESSIONS=10000 $(CARGO) test -p smb --test system -- --nocapture short_sessions::

# The threads of a session in 30 000 other orders; `make test` has 12 000 of them, in 20 s after a build of its own.
# SEED=7 for others again.
SEED ?= 2
test-model: setup-test
	LINERATE_ORDERS=5000 LINERATE_SEED=$(SEED) $(CARGO) test -p smb --features model --lib -- thread_interleaving_model::

# The knobs of NICs on real drivers: a kernel in QEMU, by software alone; takes minutes (as root).
test-hardware: setup-hardware
	$(CARGO) test -p host --test hardware

# Every lab of the library of faults, from both ends and from one, the packets that pass on 200 LANs, and the
# ladder against other tools; with a table, a confusion matrix and target/scenarios/summary.json at the end.
# REPEAT=1 HEALTHY=1 takes an hour and a half on two processors. ONLY=NAME, or a lab file of one's own that ends in .toml.
scenarios: setup-test
	$(BUILD_LINERATE)
	$(XTASK) scenarios --repeat $(REPEAT) --healthy $(HEALTHY) $(ONLY)

bench: setup-bench
	$(BUILD_LINERATE)
	$(XTASK) speeds

# Presets of `bench` against iperf3's own client and against fio by hand, in turn; five minutes (as root).
truth: setup-test
	$(BUILD_LINERATE)
	$(XTASK) truth

# How often the intervals hold and a small difference is found, on simulated machines of many kinds.
coverage:
	$(XTASK) coverage

# How often `tune` finds a known difference of 0, 3 and 5 % on 20 real labs each; an hour (as root).
# ONLY="3" for one of them.
differences: setup-test
	$(BUILD_LINERATE)
	$(XTASK) differences $(ONLY)

# How well `tune --goal` finds the best of 128 settings, on simulated machines.
tuning:
	$(XTASK) tuning

lint: setup-lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	# How large the locks of a model are is of no interest.
	$(CARGO) clippy -p smb -p smb-proto --features smb/model --all-targets -- -D warnings -A clippy::large_enum_variant
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items
	scripts/check-licences-and-advisories

# What people install, in target/dist; AGAIN=--again builds it twice and compares.
AGAIN ?=
dist: setup-dist
	scripts/dist $(AGAIN)

# Installs, tries and removes what `make dist` made, in new systems (as root, where the archives of Debian and Ubuntu
# can be reached).
smoke: setup-dist
	for artefact in target/dist/*.tar.gz target/dist/*.deb; do scripts/smoke-test-artefact "$$artefact" || exit; done

# Version, changelog, tag, artefacts, built twice and tried; publishes nothing: VERSION=1.2.3.
release: setup-dist
	scripts/release "$(VERSION)"

setup-demo:
	@scripts/setup demo

setup-lint:
	@scripts/setup lint

setup-test:
	@scripts/setup test

setup-windows:
	@scripts/setup windows

setup-interop:
	@scripts/setup interop

setup-hardware:
	@scripts/setup hardware

setup-bench:
	@scripts/setup bench

setup-dist:
	@scripts/setup dist
