# The runtime is the Node that package-lock.json pins, not the machine's; each target first installs what is missing.
node := node_modules/.bin/node
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# Compiled code is kept: a start takes half the time.
export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/node
export REDOCLY_TELEMETRY := off
export REDOCLY_SUPPRESS_UPDATE_NOTICE := true

installed := node_modules/.package-lock.json

.NOTPARALLEL:
.PHONY: help start test tools dev generate lint audit breaking sdk conformance bench check current

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

start: $(installed) ## run the service, on its own database unless DATABASE_URL is set
	@$(node) src/main.ts

test: $(installed) ## run all tests but those of the tools
	@$(node) scripts/test.ts

tools: $(installed) ## run the slow tests: those of the tools and of the docs page
	@$(node) scripts/test.ts test/tools/*.test.ts

dev: $(installed) ## run the service, and start it again whenever its code changes
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

sdk: $(installed) ## generate, compile and run clients in five languages [CLIENTS="go java"]
	@$(node) scripts/sdk/main.ts $(CLIENTS)

conformance: $(installed) ## test the running service with Schemathesis, for about three minutes [MINUTES=30]
	@$(node) scripts/conformance/main.ts $(if $(MINUTES),--minutes $(MINUTES))

bench: $(installed) ## measure the API against the same SQL without the service
	@$(node) scripts/bench/main.ts

check: current lint audit breaking test tools conformance sdk ## everything CI runs

current: $(installed)
	@$(node) scripts/generate.ts --check

# A linked node_modules belongs to another checkout.
$(installed): package-lock.json
	@test -L node_modules || npm ci --include=dev --prefer-offline --no-audit --no-fund --loglevel=error
	@test -x $(node) || { echo "npm may not run install scripts here: unset its setting ignore-scripts"; exit 1; }
