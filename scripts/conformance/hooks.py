"""What Schemathesis has to be told about this service. Loaded by schemathesis.toml; main.ts sets the environment."""

import atexit
import json
import os
import random
import re
import uuid
from collections import Counter, defaultdict, deque
from threading import Lock

import schemathesis
from hypothesis import strategies as st
from schemathesis.generation.meta import TestPhase
from schemathesis.openapi.checks import IgnoredAuth, MissingHeaderNotRejected, RejectedPositiveData

RECEIVER = os.environ["CONFORMANCE_RECEIVER"]
CLIENT = json.loads(os.environ["CONFORMANCE_CLIENT"])


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Judges more strictly than the document."""
    for path in raw_schema["paths"].values():
        for operation in path.values():
            # With it, every status would count as documented. It stays for what is refused before an operation is known.
            default = operation["responses"].pop("default")
            operation["responses"] |= {"414": default, "431": default}
    # Tokens are sent as Bearer. Of OAuth flows alone Schemathesis would not know what to leave out.
    raw_schema["components"]["securitySchemes"]["oauth"] = {"type": "http", "scheme": "bearer"}
    # Other tools refuse a link's request body unless it is a string.
    for link in raw_schema["components"]["links"].values():
        if "x-request-body" in link:
            link["requestBody"] = link.pop("x-request-body")
    # Of CSV a JSON Schema can say that it is text, and no more.
    raw_schema["components"]["schemas"]["MenuCsv"]["format"] = "menu-csv"
    with_patterns_of_checks(raw_schema)


# What `x-check` demands beyond the schema, in a pattern of Python and Rust; the others are for UNSAYABLE to explain.
LINE = r"[^\x00-\x1f\x7f-\x9f]"
PATTERNS = {
    "text": r"^[^\x00]*$",
    "lines": r"^[^\x00-\x08\x0b\x0c\x0e-\x1f]*$",
    "line": f"^{LINE}*$",
    "line-not-blank": rf"^{LINE}*[^\s\ufeff\x00-\x1f\x7f-\x9f]{LINE}*$",
    "moment": r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?"
    r"(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$",
    "moment-or-local-time": r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]"
    r"(:[0-5][0-9]((\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9]))?)?$",
    "date": r"^20[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    r"|02-(0[1-9]|1[0-9]|2[0-8]))$",
    "timestamp": r"^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$",
}


def with_patterns_of_checks(node):
    """Says as patterns what the contract says in prose, as other tools would read them otherwise."""
    if isinstance(node, dict):
        check = node.get("x-check")
        if check in PATTERNS:
            node["pattern"] = PATTERNS[check]
        if check == "thousandths":
            # Whole numbers and hundredths and thousandths: the currency, which no schema knows, refuses some.
            node["multipleOf"] = 0.001
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            with_patterns_of_checks(child)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Keeps requests to this machine and apart from each other."""
    body = case.body
    if context.operation.path.startswith("/webhooks") and isinstance(body, dict) and isinstance(body.get("url"), str):
        # Whatever can be taken for an address leads to our own receiver, before the service looks any name up.
        case.body = {**body, "url": re.sub(r"^https?://[^/?#@\s]+", RECEIVER, body["url"])}
    if operation_id(case) in ("issueToken", "revokeToken"):
        if case.meta.generation.mode.is_positive and isinstance(body, dict):
            case.body = {**body, **CLIENT}
        # It takes other credentials than a token, and just one kind at a time.
        case.headers.pop("Authorization", None)
    if case.meta.generation.mode.is_positive and case.meta.phase.name is TestPhase.FUZZING:
        aim_at_a_record(case)
        change_one_field(case)
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch(r"[\x20-\x7e]{1,128}", key):
        # A key that came before would be returned with what was returned then.
        case.headers["Idempotency-Key"] = f"{key[:90]}-{uuid.uuid4()}"


# Ids that belong together, as responses showed them, by their names: chance alone would hardly find an item in its menu.
families = defaultdict(lambda: deque(maxlen=50))
chance = random.Random(1)


def aim_at_a_record(case):
    """Every other time puts ids of one record, and of those it belongs to, into path and body."""
    body = case.body if isinstance(case.body, dict) else {}
    lists = [body.get(name) or [] for name in ("items", "modifiers", "modifier_groups")]
    rows = [row for rows in lists if isinstance(rows, list) for row in rows if isinstance(row, dict)]
    holders = [case.path_parameters, body, *rows]
    wanted = {name for holder in holders for name in holder if name in id_names}
    fitting = [family for names, members in families.items() if wanted <= names for family in members]
    if wanted and fitting and chance.random() < 0.5:
        family = chance.choice(fitting)
        for holder in holders:
            holder.update({name: family[name] for name in wanted & holder.keys()})


def change_one_field(case):
    """Every other time an update is of one field alone: of many together, hardly any set keeps to all rules."""
    if case.method == "PATCH" and isinstance(case.body, dict) and case.body and chance.random() < 0.5:
        name = chance.choice(sorted(case.body))
        case.body = {name: case.body[name]}


id_names = {
    *("location_id", "menu_id", "category_id", "item_id", "modifier_group_id", "modifier_id"),
    *("webhook_id", "delivery_id", "replay_id"),
}


def note_records(case, response):
    """Remembers the records of a response; forgets one that is gone."""
    if response.status_code in (204, 404):
        for members in families.values():
            for gone in [family for family in members if case.path_parameters.items() <= family.items()]:
                members.remove(gone)
    if response.status_code not in (200, 201, 202) or "json" not in response.headers.get("content-type", [""])[0]:
        return
    data = response.json().get("data")
    for record in data if isinstance(data, list) else [data]:
        if isinstance(record, dict):
            family = {name: record[name] for name in id_names & record.keys() if record[name] is not None}
            families[frozenset(family)].append(family)
            if not record.get("url", RECEIVER).startswith(RECEIVER):
                raise RuntimeError(f"a webhook leads elsewhere: {record['url']}")


# Requests that keep to their schema and may be refused all the same, because no schema can say why:
# status, code of the problem or of each of its errors, where, reason.
UNSAYABLE = [
    (400, "invalid_scope", "issueToken", "which scopes a client has is its own affair"),
    (412, "precondition_failed", ".*", "only the current state tells whether If-Match still matches"),
    (414, "uri_too_long", "list.*|searchItems", "a schema bounds each parameter, the server all of them together"),
    (431, "headers_too_large", ".*", "a schema bounds each header, the server all of them together"),
    (422, "cursor", "list.*|searchItems", "a cursor is opaque: only one that this list has given is good"),
    (422, "not_found", ".*", "only the database tells whether a record that is named in a query or body is within reach"),
    (422, "taken", "create.*|update.*", "an external_id is unique among its siblings"),
    (422, "enum", ".*Location", "time zones and currencies are lists outside the contract, which grow"),
    (422, "precision", "(create|update)(Item|Modifier)|createModifierGroup|updateLocation|importMenu", "decimal places depend on the location's currency"),
    (422, "past", ".*Item|.*Modifier(Group)?|set.*Availability|importMenu", "whether a moment is past changes with time"),
    (422, "conflict", "(create|update)(Location|Menu|Category)", "of two dates one must not be before the other"),
    (422, "format", "(create|update).*|importMenu", "a pattern does not know how long February is"),
    (422, "no_opening", "update(Item|Modifier)|set.*Availability", "whether hours ever begin again depends on all levels together"),
    (422, "future", "replayWebhook", "whether a moment is to come changes with time"),
    (422, "conflict", ".*Item|.*Modifier(Group)?|set.*Availability|importMenu", "two fields exclude each other: `not` breaks generators"),
    (422, "required", "set.*Availability|importMenu", "one of two fields is needed: `anyOf` breaks generators"),
    (422, "duplicate", "set.*Availability|set.*ModifierGroups|reorderMenu|importMenu|(create|update).*", "uniqueItems compares whole objects, not their identifiers"),
    (422, "too_many", "create(Category|Item|Webhook|Modifier(Group)?)|importMenu|set(Location|Modifier)Availability", "how many more fit depends on those that are there"),
    (422, "too_many", "priceSelection", "a schema bounds each list, the service those within each other together"),
    (422, "too_deep", "priceSelection", "a schema that contains itself has no last level"),
    (422, "too_large", "priceSelection", "only the database tells what the selections cost"),
    (422, "unmet", ".*Modifier.*", "whether numbers can be met depends on the modifiers, and on several fields together"),
    (422, "circle", "setModifierModifierGroups", "only the database tells which groups lie within each other"),
    (422, "too_deep", "setModifierModifierGroups", "only the database tells how deep groups lie within each other"),
    (422, "missing", "reorderMenu", "only the database tells what the whole order of a menu is"),
]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops what UNSAYABLE names, and little else."""
    # After 30 refusals in a minute, a missing or false token is returned 429 in place of 401: refused all the same.
    if isinstance(failure, IgnoredAuth):
        return "got `429 " not in failure.message
    if isinstance(failure, MissingHeaderNotRejected):
        return response.status_code != 429
    if not isinstance(failure, RejectedPositiveData):
        return True
    problem = response.json()
    codes = {error["code"] for error in problem.get("errors", [])} or {problem.get("code", problem.get("error"))}
    known = {
        code
        for status, code, where, _ in UNSAYABLE
        if status == response.status_code and re.fullmatch(where, operation_id(case))
    }
    if codes <= known:
        with lock:
            for code in codes:
                refused[f"{response.status_code} {code}"][operation_id(case)] += 1
        return False
    return True


# What was returned, for the report of main.ts.
lock = Lock()
responses = defaultdict(Counter)
refused = defaultdict(Counter)


@schemathesis.hook
def after_call(context, case, response):
    if response.request.method == case.operation.method.upper():
        with lock:
            responses[operation_id(case)][str(response.status_code)] += 1
        note_records(case, response)


@atexit.register
def report():
    with open(os.environ["CONFORMANCE_REPORT"], "w", encoding="utf-8") as file:
        json.dump({"responses": responses, "refused": refused}, file)


def operation_id(case):
    return case.operation.definition.raw["operationId"]


@schemathesis.deserializer("text/csv")
def read_csv(context, response):
    return response.content.decode("utf-8")


label = st.text(st.characters(categories=["L", "N"], include_characters=" "), min_size=1, max_size=20).filter(str.strip)


@st.composite
def menus_as_csv(draw):
    rows = ["record,category_external_id,external_id,name,price,allergens"]
    for category in draw(st.lists(label, unique=True, max_size=3)):
        rows.append(f"category,{category},,{draw(label)},,")
        for item in draw(st.lists(label, unique=True, max_size=3)):
            price, allergens = draw(st.integers(0, 99999999)) / 100, draw(st.sampled_from(["", "fish", "fish;soy"]))
            rows.append(f"item,{category},{category}/{item},{draw(label)},{price:.2f},{allergens}")
    return draw(st.sampled_from(["\n", "\r\n"])).join(rows)


schemathesis.openapi.format("menu-csv", menus_as_csv())
