# matins: one Makefile, not recursive. `make help` lists the targets.

PREFIX  ?= /usr/local
DESTDIR ?=
VARIANT ?= release
# Warnings are errors; `make WERROR=` builds with a compiler we do not know.
WERROR  ?= -Werror

# One goal is built by all processors; -j on the command line wins. Several
# goals stay in their order: `make clean all`.
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

CC  ?= gcc
CXX ?= g++
AR  ?= ar

O := build/$(VARIANT)
VERSION := 0.1.0

WARN := -Wall -Wextra $(WERROR)
CWARN := $(WARN) -Wstrict-prototypes -Wmissing-prototypes -Wshadow \
	 -Wwrite-strings -Wpointer-arith -Wvla -Wformat=2 -Wundef
HARDEN := -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
COMMON := -g -I. -I$(O) -D_GNU_SOURCE -DMATINS_VERSION='"$(VERSION)"' -MMD -MP

ifeq ($(VARIANT),release)
OPT := -O2 $(HARDEN) -ffunction-sections -fdata-sections
# Not g++: it adds libm, which nothing that is left calls, to every start.
LINK := $(CC)
LINK_FLAGS := -Wl,--gc-sections
LINK_LIBS := -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic
else ifeq ($(VARIANT),debug)
OPT := -O0 -fno-omit-frame-pointer -fPIE
else ifeq ($(VARIANT),asan)
OPT := -O1 -fsanitize=address -fno-omit-frame-pointer -fPIE -DMATINS_ASAN
SAN := -fsanitize=address
else ifeq ($(VARIANT),ubsan)
# What the checks add to the code confuses these two warnings.
OPT := -O1 -fsanitize=undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -fPIE \
	-Wno-format-truncation -Wno-maybe-uninitialized
SAN := -fsanitize=undefined
else ifeq ($(VARIANT),cover)
OPT := -O0 --coverage -fPIE -DMATINS_COVER='"$(CURDIR)/$(O)"'
SAN := --coverage
else ifeq ($(VARIANT),fuzz)
# gcc knows no libFuzzer, also where the caller's CC names it for the rest
ifeq ($(findstring clang,$(CC)),)
override CC := clang
override CXX := clang++
endif
# gcc's build is the one that warns
WARN := -w
CWARN := -w
OPT := -O1 -fsanitize=fuzzer-no-link,address,undefined \
	-fno-omit-frame-pointer -fPIE -DMATINS_ASAN
SAN := -fsanitize=address,undefined
else
$(error VARIANT is one of release debug asan ubsan cover fuzz)
endif

CFLAGS   ?=
CXXFLAGS ?=
ALL_CFLAGS   := -std=gnu17 $(OPT) $(COMMON) $(CWARN) $(CFLAGS)
ALL_CXXFLAGS := -std=c++17 $(OPT) $(COMMON) $(WARN) $(CXXFLAGS)
LDFLAGS_ALL  := -pie -Wl,-z,relro,-z,now -Wl,--as-needed \
	-static-libstdc++ -static-libgcc $(SAN) $(LDFLAGS)
LIBS := -lm
LINK ?= $(CXX)
LINK_LIBS ?= $(LIBS)

SRC := $(filter-out core/main.c core/gen/% gate/gen/%,$(wildcard core/*.c core/*/*.c \
	core/*/*/*.c gate/*.c gate/*/*.c))
SRCXX := $(wildcard core/*/*.cpp)
# The C++ file takes longest, so it is begun first.
OBJ := $(SRCXX:%.cpp=$(O)/%.o) $(SRC:%.c=$(O)/%.o)
LIB := $(O)/libmatins.a
# Unit tests: one program a room, a room being a folder of tests/unit.
UNIT_FILES := $(wildcard tests/unit/*/test_*.c)
room = $(word 3,$(subst /, ,$(1)))
UNIT_ROOMS := $(sort $(foreach f,$(UNIT_FILES),$(call room,$(f))))
UNIT := $(UNIT_ROOMS:%=$(O)/unit/%)
HELPER := $(patsubst %.c,$(O)/%,$(wildcard tests/helpers/*.c))
HEADERS := $(wildcard core/*/*.h core/*/*/*.h gate/*.h gate/*/*.h)
C_FILES := $(wildcard core/*.[ch] core/*/*.[ch] core/*/*/*.[ch] gate/*.[ch] gate/*/*.[ch] \
	tests/*/*.[ch] tests/unit/*/*.[ch])

DEPS := gcc g++ make pkg-config libseccomp-dev libtomlplusplus-dev \
	libgit2-dev libpcre2-dev libcurl4-openssl-dev libcjson-dev \
	libyaml-dev libsqlite3-dev libmicrohttpd-dev libarchive-dev libssl-dev \
	libkeyutils-dev libsystemd-dev \
	libcmark-gfm-dev libcmark-gfm-extensions-dev
BIN := $(if $(filter release,$(VARIANT)),build/matins,$(O)/matins)

# One short line for each file; V=1 shows the commands.
say = $(if $(V),,@printf '  %-4s %s\n' $(1) $@;)

.PHONY: all
all: $(BIN) ## build the program at build/matins

# A copy, as `make install` makes one: a linker writes here and there, so its
# file lies in memory in small pieces, and each start from there is dearer.
build/matins: build/release/matins
	@cp $< $@.$$$$ && mv -f $@.$$$$ $@

$(O)/matins: $(O)/core/main.o $(LIB)
	$(call say,LD)$(LINK) $(LDFLAGS_ALL) $(LINK_FLAGS) -o $@ $^ $(LINK_LIBS)

$(LIB): $(OBJ)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

# Between clone and exec: memory shared with the runner, no libc, so nothing
# that a compiler adds behind our back.
$(addprefix $(O)/gate/child/,child.o pass.o): \
	ALL_CFLAGS += -fno-sanitize=all -fno-stack-protector

# The system-call filters of the named profiles, made here by libseccomp.
GENERATOR := $(O)/gate/gen/filters
$(GENERATOR): $(addprefix $(O)/,$(patsubst %.c,%.o,gate/gen/filters.c \
		gate/build/seccomp.c gate/build/compact.c $(wildcard core/base/*.c)))
	$(call say,LD)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(O)/gen/filters.inc: $(GENERATOR)
	@mkdir -p $(@D)
	$(call say,GEN)$< >$@.$$$$ && mv $@.$$$$ $@

$(O)/gate/build/filters.o build/tidy/gate/build/filters.ok: $(O)/gen/filters.inc

# Columns of characters, as the C library counts them.
$(O)/gen/columns.inc: $(O)/core/gen/columns.o
	@mkdir -p $(@D)
	$(call say,GEN)$(CC) $(LDFLAGS_ALL) -o $(@:.inc=) $< && $(@:.inc=) >$@.$$$$ && mv $@.$$$$ $@

$(O)/core/base/text.o build/tidy/core/base/text.ok: $(O)/gen/columns.inc

# The starter of `matins init` and the style of pages as lines of a C string.
$(O)/gen/starter.inc: core/cli/starter.toml
$(O)/gen/page.inc: core/report/page.css
$(O)/gen/starter.inc $(O)/gen/page.inc:
	@mkdir -p $(@D)
	$(call say,GEN)sed 's/^\t*//; s/["\\]/\\&/g; s/.*/"&\\n"/' $< >$@.$$$$ && mv $@.$$$$ $@

$(O)/core/cli/cmd_allow.o build/tidy/core/cli/cmd_allow.ok: $(O)/gen/starter.inc
$(O)/core/report/page.o build/tidy/core/report/page.ok: $(O)/gen/page.inc

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(O)/%.o: %.cpp
	@mkdir -p $(@D)
	$(call say,CXX)$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<

unit-objects = $(patsubst %.c,$(O)/%.o,$(filter tests/unit/$(1)/%,$(UNIT_FILES)))
$(foreach r,$(UNIT_ROOMS),$(eval $(O)/unit/$(r): $(call unit-objects,$(r))))
$(UNIT): $(O)/tests/unit/main.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)$(CXX) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(LIB) \
		$(LIBS) -lcmocka -lseccomp -lsystemd

$(O)/tests/helpers/%: tests/helpers/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu17 -O2 -g -D_GNU_SOURCE $(WARN) -o $@ $<

# Fuzz entry points, with a main that replays the corpus ...
FUZZERS := $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
$(FUZZERS): %: %.o $(O)/tests/fuzz/replay_main.o $(LIB)
	$(call say,LD)$(CXX) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lcjson

# ... and with libFuzzer's.
build/fuzz/run/%: build/fuzz/tests/fuzz/%.o build/fuzz/libmatins.a
	@mkdir -p $(@D)
	$(call say,LD)$(CXX) -fsanitize=fuzzer $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lcjson

# These two start programs by the gate itself, from inside.
$(addprefix $(O)/tests/bench/,scrub spawn view): $(O)/tests/bench/%: \
		tests/bench/%.c tests/bench/bench.h $(LIB)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -c -o $@.o $<
	$(call say,LD)$(LINK) $(LDFLAGS_ALL) $(LINK_FLAGS) -o $@ $@.o $(LIB) $(LINK_LIBS)

# The bare runner takes the sum of a report as the program does.
$(O)/tests/bench/bare_runner: tests/bench/bare_runner.c \
		$(patsubst %.c,$(O)/%.o,$(wildcard core/base/sha256*.c))
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu17 -O2 -g -D_GNU_SOURCE -I. $(WARN) $(SAN) -o $@ $^

$(O)/tests/bench/%: tests/bench/%.c tests/bench/bench.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu17 -O2 -g -D_GNU_SOURCE -I. $(WARN) -o $@ $<

.PHONY: debug
debug: ## build with -O0 at build/debug/matins
	$(MAKE) VARIANT=debug all

.PHONY: deps
deps: ## install the Debian packages that `make all` needs
	@tests/deps.sh $(DEPS)

# ---- tests; each group ends in one line, and so does `check` over all ----

CHECK_DEPS := libcmocka-dev slurm-wlm munge openssh-server openssh-client rsync sshfs clang clang-format clang-tidy shellcheck mandoc \
	python3 python3-jsonpatch python3-jsonschema util-linux git curl openssl \
	libtest-json-schema-acceptance-perl zsh fish postgresql musl-tools \
	netcat-openbsd cron systemd chromium strace python3-venv \
	$(if $(shell command -v go),,golang-go) $(if $(shell command -v rustc),,rustc) \
	$(if $(shell command -v node),,nodejs) $(if $(shell command -v npm),,npm)
BLACKBOX := $(sort $(wildcard tests/blackbox/*.t))
BENCHES := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c))
NPM := build/npm/.installed
CONFORMANCE := build/conformance/.installed
THIRTY := build/thirty/.installed
SRT := build/srt/.installed
ORDINARY := build/ordinary/ordinary-go build/ordinary/ordinary-rust
picked = $(if $(T),$(foreach f,$(1),$(if $(findstring $(T),$(f)),$(f))),$(1))
# Sub-makes share our job server, which make hands to lines with a "+"; without
# one they get all processors.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE = $(MAKE) --no-print-directory $(JOBS) VARIANT=$(VARIANT)
COUNTS_FILE = $(CURDIR)/$(O)/$@.counts
# What every group gets told. A sanitizer's complaint is a status of its own.
export BIN := $(BIN)
export HELPERS := $(O)/tests/helpers
export OBJDIR := $(O)
export TAPDIR := $(O)/tap
export VARIANT
export ASAN_OPTIONS ?= exitcode=99:detect_stack_use_after_return=1
export LSAN_OPTIONS ?= exitcode=98
export UBSAN_OPTIONS ?= print_stacktrace=1

# run-groups GROUPS: each as a sub-make, all of them whatever fails
define run-groups
	@mkdir -p $(O) && rm -f $(COUNTS_FILE)
	+@failed=; for g in $(1); do \
		echo "== $$g"; \
		COUNTS=$(COUNTS_FILE) $(SUBMAKE) $$g || failed="$$failed $$g"; \
	done; \
	[ -z "$$failed" ] || echo "failed:$$failed"; \
	COUNTS=$(COUNTS_FILE) tests/run.sh --total && [ -z "$$failed" ]
endef

.PHONY: check
check: ## install what the tests need, run every test; T=pattern picks some
	+@$(SUBMAKE) check-deps
	+@$(SUBMAKE) check-build
	+@$(SUBMAKE) check-all

# What belongs to no group by its folder; as one pool, no processor waits for
# the end of a group.
REST := $(FUZZERS) tests/layers.sh tests/static.sh tests/conformance/suite.t \
	tests/golden.sh
.PHONY: check-all
check-all: export COUNTS := $(O)/check.counts
check-all:
	@rm -rf $(O)/reports $(COUNTS) && mkdir -p $(O)/reports
	@PICK='$(T)' MODULES=$(dir $(CONFORMANCE))node_modules \
		REPORTS=$(CURDIR)/$(O)/reports tests/run.sh $(picked-unit) \
		$(call picked,$(BLACKBOX) $(REST)) \
		$(if $(T),,--then tests/reports.py); rc=$$?; \
	SLOWEST=10 tests/run.sh --total && [ $$rc = 0 ]

.PHONY: lint
lint: ## clang-tidy over every source file, shellcheck, headers: minutes
	+@$(SUBMAKE) check-deps
	+@$(SUBMAKE) $(O)/gen/columns.inc $(O)/gen/filters.inc $(O)/gen/starter.inc $(O)/gen/page.inc
	$(call run-groups,check-lint)

.PHONY: check-lint
check-lint:
	@LIMIT=1800 tests/run.sh tests/lint.sh

.PHONY: check-build
check-build: all $(UNIT) $(HELPER) $(FUZZERS) $(BENCHES) $(NPM) $(ORDINARY) \
		$(CONFORMANCE)

.PHONY: check-deps
check-deps: deps ## install the Debian packages that the tests need
	@tests/deps.sh $(CHECK_DEPS)

# T names files, whose rooms are built; or a text in files, such as RW_52; or
# else tests of any room.
rooms-of = $(sort $(foreach f,$(1),$(O)/unit/$(call room,$(f))))
UNIT_PICKED = $(if $(T),$(or $(call rooms-of,$(call picked,$(UNIT_FILES))),\
	$(call rooms-of,$(shell grep -rlF -- '$(T)' tests/unit/*/)),$(UNIT)),$(UNIT))
picked-unit = $$(for room in $(UNIT_PICKED); do \
	[ -z "$$($$room --list '$(T)')" ] || echo $$room; done)
.PHONY: check-unit
check-unit: $(UNIT_PICKED) ## the functions of each room; T=pattern picks files or tests
	@PICK='$(T)' tests/run.sh $(picked-unit)

.PHONY: check-blackbox
check-blackbox: all $(HELPER) $(NPM) $(ORDINARY) $(CONFORMANCE) ## the program from outside; T=pattern picks
	@rm -rf $(O)/reports && mkdir -p $(O)/reports
	@REPORTS=$(CURDIR)/$(O)/reports tests/run.sh \
		$(call picked,$(BLACKBOX)) $(if $(T),,--then tests/reports.py)

.PHONY: check-golden
check-golden: all $(HELPER) ## accepted reports; CASE=name picks one
	@tests/run.sh tests/golden.sh

.PHONY: golden-accept
golden-accept: all $(HELPER) ## rewrite the accepted report of CASE=name
	@tests/golden.sh --accept $(CASE)

.PHONY: check-fuzz
check-fuzz: $(FUZZERS) ## replay the fuzz corpus through the parsers
	@tests/run.sh $(call picked,$(FUZZERS))

.PHONY: check-layers
check-layers: $(OBJ) $(O)/core/main.o ## who includes whom, who may fork
	@tests/run.sh tests/layers.sh

.PHONY: check-static
check-static: ## layout, manual page, README and lists of tests
	@tests/run.sh tests/static.sh

# Our own servers lie beside the modules that they import.
$(NPM): tests/npm/package.json tests/npm/package-lock.json \
		$(wildcard tests/servers/*.mjs)
	@mkdir -p $(@D)
	@cp $^ $(@D)
	@echo "installing the reference servers for the tests (npm)"
	@cd $(@D) && npm ci --no-audit --no-fund --ignore-scripts \
		--loglevel=error >npm.log 2>&1 || { cat npm.log; exit 1; }
	@touch $@

# The suite, and the Node that it needs.
$(CONFORMANCE): tests/conformance/package.json \
		tests/conformance/package-lock.json
	@mkdir -p $(@D)
	@cp $^ $(@D)
	@echo "installing the conformance suite (npm)"
	@cd $(@D) && npm ci --no-audit --no-fund --ignore-scripts \
		--loglevel=error >npm.log 2>&1 || { cat npm.log; exit 1; }
	@touch $@

.PHONY: conformance check-conformance
conformance: check-conformance
check-conformance: all $(CONFORMANCE) ## the public suite for MCP clients; T="SCENARIO…" picks
	@BIN=$(BIN) MODULES=$(dir $(CONFORMANCE))node_modules T="$(T)" \
		LIMIT=600 tests/run.sh tests/conformance/suite.t

$(THIRTY): tests/thirty/package.json tests/thirty/package-lock.json
	@mkdir -p $(@D)
	@cp $^ $(@D)
	@echo "installing thirty servers (npm)"
	@cd $(@D) && npm ci --no-audit --no-fund --ignore-scripts \
		--loglevel=error >npm.log 2>&1 || { cat npm.log; exit 1; }
	@touch $@

# Minutes: .ci/run has it, `make check` does not.
.PHONY: check-thirty
check-thirty: export COUNTS := $(O)/thirty.counts
check-thirty: all $(THIRTY) ## thirty servers as people write them; T="NAME…" picks
	@tests/deps.sh chromium jq git python3-yaml python3-venv
	@rm -f $(COUNTS)
	@THIRTY=$(dir $(THIRTY)) T="$(T)" LIMIT=900 \
		tests/run.sh tests/thirty/suite.py; rc=$$?; \
	grep '^# ' $(TAPDIR)/tests_thirty_suite.py.tap 2>/dev/null | grep ' | '; \
	tests/run.sh --total && [ $$rc = 0 ]

# Static programs that have to work under the gate.
build/ordinary/ordinary-go: tests/escape/ordinary/compiled.go
	@mkdir -p $(@D)
	$(call say,GO)CGO_ENABLED=0 GO111MODULE=off GOFLAGS=-trimpath \
		GOPATH=$(CURDIR)/build/go GOCACHE=$(CURDIR)/build/go/cache \
		go build -o $@ $<

build/ordinary/ordinary-rust: tests/escape/ordinary/compiled.rs
	@mkdir -p $(@D)
	$(call say,RUST)MAKEFLAGS= rustc --edition 2021 -O -C target-feature=+crt-static \
		-o $@ $<

.PHONY: check-escape
check-escape: all $(HELPER) $(ORDINARY) ## probes here and in other sandboxes, as a table
	@tests/deps.sh bubblewrap firejail socat ripgrep
	+@$(SUBMAKE) $(SRT)
	@tests/escape/compare.sh

$(SRT): tests/escape/package.json tests/escape/package-lock.json
	@mkdir -p $(@D)
	@cp $^ $(@D)
	@cd $(@D) && npm ci --no-audit --no-fund --ignore-scripts \
		--loglevel=error >npm.log 2>&1 || { cat npm.log; exit 1; }
	@touch $@

.PHONY: check-headers
check-headers: ## each header compiles alone
	@for h in $(HEADERS); do \
		echo "#include \"$$h\"" | $(CC) -std=gnu17 -I. -D_GNU_SOURCE \
			$(CWARN) -fsyntax-only -x c - || exit 1; \
	done

TIDY := $(patsubst %.c,build/tidy/%.ok,$(wildcard core/*.c core/*/*.c \
	core/*/*/*.c gate/*.c gate/*/*.c $(addprefix tests/,helpers/*.c bench/*.c \
	fuzz/*.c)))
.PHONY: tidy
tidy: $(TIDY) ## clang-tidy with the checks of .clang-tidy
build/tidy/%.ok: %.c .clang-tidy tests/tidy.h
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- -std=gnu17 $(filter-out -MMD -MP,$(COMMON)) \
		$(if $(filter core/base/err.c tests/bench/% tests/helpers/%,$<),,-include tests/tidy.h) \
		>$(@:.ok=.log) 2>/dev/null || { cat $(@:.ok=.log); exit 1; }
	@touch $@

.PHONY: docs
docs: all ## rewrite the keys in routines/README.md and the manual's list of keys
	sed '/^## Step types/,$$d' routines/README.md >$(O)/routines.md
	$(BIN) steps --md >>$(O)/routines.md
	cp $(O)/routines.md routines/README.md
	awk -f core/cli/manual.awk routines/README.md core/cli/matins.1 \
		>$(O)/matins.1
	cp $(O)/matins.1 core/cli/matins.1

.PHONY: format
format: ## rewrite the layout by .clang-format
	clang-format -i $(C_FILES)

.PHONY: format-check
format-check: ## fail when the layout differs from .clang-format
	@clang-format --dry-run -Werror $(C_FILES)

.PHONY: asan ubsan
asan ubsan: ## the tests under a sanitizer
	@$(MAKE) --no-print-directory VARIANT=$@ check-sanitized

.PHONY: check-sanitized
check-sanitized:
	+@$(SUBMAKE) check-deps
	+@$(SUBMAKE) check-build
	$(call run-groups,check-unit check-fuzz check-blackbox check-golden)

.PHONY: cover
cover: ## what share of each source file the tests run
	@find build/cover -name '*.gcda' -delete 2>/dev/null || true
	-@$(MAKE) --no-print-directory VARIANT=cover check-sanitized
	@tests/cover.sh build/cover

.PHONY: fuzz
fuzz: ## fuzz one parser: FUZZ=toml TIME=60
	@tests/deps.sh clang
	@$(MAKE) --no-print-directory $(JOBS) VARIANT=fuzz \
		build/fuzz/run/fuzz_$(or $(FUZZ),$(error FUZZ=name picks a parser))
	@mkdir -p build/fuzz/corpus/$(FUZZ)
	build/fuzz/run/fuzz_$(FUZZ) -max_total_time=$(or $(TIME),60) \
		build/fuzz/corpus/$(FUZZ) tests/fuzz/corpus/$(FUZZ)

.PHONY: bench
bench: all $(HELPER) $(BENCHES) ## measure steps and starts beside bare ones; PEERS=1 other programs, BASE=rev another revision
	@BASE='$(BASE)' PEERS='$(PEERS)' tests/bench/run.sh

.PHONY: demo
demo: ## install what is missing, build, and show a morning briefing
	+@$(SUBMAKE) deps
	+@$(SUBMAKE) all
	@MATINS_STATE=$(CURDIR)/build/demo $(BIN) run -c routines/morning.toml morning

.PHONY: install
install: all ## copy to DESTDIR/PREFIX: program, manual page, completions, examples
	@mkdir -p $(DESTDIR)$(PREFIX)/bin 2>/dev/null && \
		test -w $(DESTDIR)$(PREFIX)/bin || { echo 'cannot write into' \
		'$(DESTDIR)$(PREFIX): run `sudo make install` for all users,' \
		'or `make install PREFIX=$$HOME/.local` for you' >&2; exit 1; }
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/matins
	install -D -m 644 core/cli/matins.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1/matins.1
	install -d $(DESTDIR)$(BASH_COMPLETIONS) $(DESTDIR)$(ZSH_COMPLETIONS) \
		$(DESTDIR)$(FISH_COMPLETIONS)
	$(BIN) completion bash >$(DESTDIR)$(BASH_COMPLETIONS)/matins
	$(BIN) completion zsh >$(DESTDIR)$(ZSH_COMPLETIONS)/_matins
	$(BIN) completion fish >$(DESTDIR)$(FISH_COMPLETIONS)/matins.fish
	install -d $(DESTDIR)$(EXAMPLES)/out
	install -m 644 routines/*.toml routines/README.md $(DESTDIR)$(EXAMPLES)
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) $(if $(DESTDIR),:,echo \
		'$(PREFIX)/bin is not in PATH; for this shell:' \
		'export PATH="$(PREFIX)/bin:$$PATH"') ;; esac

BASH_COMPLETIONS := $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS := $(PREFIX)/share/zsh/site-functions
EXAMPLES := $(PREFIX)/share/doc/matins/routines
FISH_COMPLETIONS := $(PREFIX)/share/fish/vendor_completions.d

.PHONY: uninstall
uninstall: ## remove what install copied
	rm -f $(DESTDIR)$(PREFIX)/bin/matins \
		$(DESTDIR)$(PREFIX)/share/man/man1/matins.1 \
		$(DESTDIR)$(BASH_COMPLETIONS)/matins \
		$(DESTDIR)$(ZSH_COMPLETIONS)/_matins \
		$(DESTDIR)$(FISH_COMPLETIONS)/matins.fish
	rm -f $(addprefix $(DESTDIR)$(EXAMPLES)/,$(notdir $(wildcard routines/*.toml)) \
		README.md)
	-@rmdir -p $(DESTDIR)$(EXAMPLES)/out 2>/dev/null

.PHONY: tags
tags: ## editor index build/tags
	@mkdir -p build
	ctags -f build/tags $(C_FILES)

.PHONY: compile_commands.json
compile_commands.json: ## for clangd: build/compile_commands.json
	@mkdir -p build
	@{ echo '['; sep=; for f in $(SRC) core/main.c; do \
		printf '%s{"directory":"%s","file":"%s","command":"%s"}' \
			"$$sep" "$(CURDIR)" "$$f" \
			'$(subst ",\\\",$(subst ',,$(CC) $(ALL_CFLAGS))) -c '"$$f"; \
		sep=','; \
	done; echo ']'; } >build/compile_commands.json

.PHONY: hooks
hooks: ## check layout and unit tests before each commit
	@printf '%s\n' '#!/bin/sh' 'exec make -s format-check check-unit' \
		>"$$(git rev-parse --git-path hooks)/pre-commit"
	@chmod +x "$$(git rev-parse --git-path hooks)/pre-commit"
	@echo "installed the pre-commit hook"

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z][a-z_. -]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | \
		awk -F'\t' '{ printf "  %-16s %s\n", $$1, $$2 }'

-include $(OBJ:.o=.d) $(O)/core/main.d $(GENERATOR).d \
	$(UNIT_FILES:%.c=$(O)/%.d) $(O)/tests/unit/main.d $(FUZZERS:=.d) \
	$(O)/tests/fuzz/replay_main.d
