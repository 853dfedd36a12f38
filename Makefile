# The runtime is the Node.js that package-lock.json pins, not the machine's. Each target first installs what is missing.
node := node_modules/.bin/node
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# Caching compiled code halves the time of a start.
export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/node
export REDOCLY_TELEMETRY := off
export REDOCLY_SUPPRESS_UPDATE_NOTICE := true

installed := node_modules/.package-lock.json

.NOTPARALLEL:
.PHONY: help start cluster test tools gates dev generate lint audit breaking portable sdk conformance chaos bench check current

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

start: $(installed) ## run the service, on its own PostgreSQL unless DATABASE_URL is set
	@$(node) src/main.ts

cluster: $(installed) ## run many processes of it behind HAProxy, with Redis, until Ctrl-C
	@$(node) test/cluster/main.ts

test: $(installed) ## run all tests except those of tools, gates and portable
	@$(node) scripts/test.ts

tools: $(installed) ## run the slow tests: tools, the /docs page, many processes, upgrades and restores
	@$(node) scripts/test.ts test/tools/*.test.ts test/procedures/*.test.ts test/cluster/*.test.ts

gates: $(installed) ## run the tests of the checks themselves: of the contract and of generated clients
	@$(node) scripts/test.ts test/gates/*.test.ts

dev: $(installed) ## run the service, and restart it whenever its code changes
	@$(node) --watch src/main.ts

generate: $(installed) ## write generated/ from the contract, the migrations and the SQL of src/
	@$(node) scripts/generate.ts

lint: $(installed) ## check the contract, code style, imports and types
	redocly lint openapi/openapi.yaml --config scripts/lint-contract/redocly.yaml
	biome check .
	depcruise src --config scripts/lint-imports/dependency-cruiser.cjs
	tsc -p .

# Apart from lint, as it takes longer than the rest of it.
audit: $(installed) ## check both editions of the contract with Spectral and the OWASP rules
	spectral lint generated/openapi.json generated/openapi-3.0.json \
	  --ruleset scripts/lint-contract/spectral.yaml --fail-severity hint

breaking: $(installed) ## list changes that break clients of the released contract [REVISION=file]
	@$(node) scripts/breaking.ts $(REVISION)

portable: $(installed) ## check that validators, a proxy and five regex engines read both editions alike
	@$(node) scripts/portable/main.ts
	@$(node) scripts/test.ts test/portable/*.test.ts

sdk: $(installed) ## generate, compile and run clients in eight languages [CLIENTS="go java"]
	@$(node) scripts/sdk/main.ts $(if $(CLIENTS),$(CLIENTS),$(if $(CI),--ci $(if $(RELEASE),,--changed)))

conformance: $(installed) ## test the running service with Schemathesis, for about three minutes [MINUTES=30]
	@$(node) scripts/conformance/main.ts $(if $(MINUTES),--minutes $(MINUTES))

chaos: $(installed) ## break the service under load for two minutes, and check that nothing is lost [MINUTES=60 SEED=1 | SOAK=1 OUT=dir]
	@$(node) test/chaos/$(if $(SOAK),soak/)main.ts $(if $(MINUTES),--minutes $(MINUTES)) \
	  $(if $(SOAK),$(if $(OUT),--out $(OUT)),$(if $(SEED),--seed $(SEED)))

bench: $(installed) ## compare the speed of the service with that of its SQL alone
	@$(node) scripts/bench/main.ts

check: $(installed) ## run everything that CI runs, and print how long each target took
	@$(node) scripts/check.ts

current: $(installed)
	@$(node) scripts/generate.ts --check

# A linked node_modules belongs to another checkout.
$(installed): package-lock.json
	@test -L node_modules || npm ci --include=dev --prefer-offline --no-audit --no-fund --loglevel=error
	@test -x $(node) || { echo "npm may not run install scripts here: unset its setting ignore-scripts"; exit 1; }
