"""The check of the run with an API key that sees one relayer: no answer tells of what is hidden from the key."""

import json
from pathlib import Path
from urllib.parse import unquote

import schemathesis

ID_PARAMETERS = {
    "relayer_id": "relayers",
    "transaction_id": "transactions",
    "schedule_id": "schedules",
    "delivery_id": "deliveries",
    "notification_id": "notifications",
}
"""What a path names by which parameter."""

REFUSALS = {400, 401, 403}


@schemathesis.check
class narrow_key:
    """Fails when an answer shows something hidden, a path leads to it, or the key did what it has no scope for."""

    def __init__(self, facts):
        self.facts = json.loads(Path(facts).read_text())
        self.answered = set()
        self.listed = set()
        self.asked = set()
        self.tried = set()

    def after_response(self, ctx, response, case):
        self._note(response, case)
        self._check_texts(response, case)
        self._check_paths(response, case)
        self._check_scope(response, case)

    def after_run(self, ctx):
        """A run in which nothing could be seen, or nothing hidden was asked for, would prove nothing."""
        unseen = self.listed - self.answered
        assert not unseen, f"the key never saw an answer of {sorted(unseen)}"
        untried = self.asked - self.tried
        assert not untried, f"no path named anything hidden by {sorted(untried)}"

    def _check_texts(self, response, case):
        hidden = list(self.facts["texts"])
        if not _answers_from_node(case):
            hidden += self.facts["textsOnChain"]
        answer = _text_of_answer(response)
        request = _text_of_request(response.request)
        shown = [
            text
            for text in hidden
            # An error may repeat what the caller sent.
            if text.lower() in answer and text.strip('"').lower() not in request
        ]
        assert not shown, f"the answer shows what the key may not see: {shown}"

    def _check_paths(self, response, case):
        if response.status_code < 300:
            named = self._hidden_in_path(case)
            assert not named, f"{response.status_code} for what the key may not see: {named}"

    def _check_scope(self, response, case):
        missing = _scopes_of(case.operation) - set(self.facts["scopes"])
        refused = response.status_code in REFUSALS
        assert refused or not missing, f"{response.status_code} without the scope {missing}"

    def _note(self, response, case):
        self.asked |= ID_PARAMETERS.keys() & (case.path_parameters or {}).keys()
        self.tried |= self._hidden_in_path(case).keys()
        label = case.operation.label
        allowed = _scopes_of(case.operation) <= set(self.facts["scopes"])
        if case.operation.method == "get" and "{" not in case.path and allowed:
            self.listed.add(label)
        if response.status_code < 300:
            self.answered.add(label)

    def _hidden_in_path(self, case):
        values = case.path_parameters or {}
        return {
            name: values[name] for name, kind in ID_PARAMETERS.items() if values.get(name) in self.facts[kind]
        }


def _scopes_of(operation):
    """An operation of the contract names its own scope; the others need no key."""
    requirements = operation.definition.raw.get("security", [])
    return {scope for requirement in requirements for scope in requirement.get("bearer", [])}


def _answers_from_node(case):
    return case.operation.definition.raw["operationId"] == "callRpc"


def _text_of_answer(response):
    headers = "\n".join(value for values in response.headers.values() for value in values)
    return f"{headers}\n{response.content.decode(errors='replace')}".lower()


def _text_of_request(request):
    """The path, the query and the body; the credential is no excuse for an answer that shows it."""
    body = request.body or b""
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body)
    return f"{unquote(request.url)}\n{text}".lower()
