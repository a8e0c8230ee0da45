"""Sends, reads, replaces and cancels a transaction with the client that openapi-python-client generated."""

import os
import time

from openapi_python_client_client import AuthenticatedClient
from openapi_python_client_client.api.relayers import get_relayer_balance, list_relayers
from openapi_python_client_client.api.transactions import (
    cancel_transaction,
    get_transaction_by_id,
    replace_transaction,
    send_transaction,
)
from openapi_python_client_client.models import ErrorCode, EvmTransactionRequest, Failure, Speed

RELAYER = "main"
RECEIVER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
# More than a 64-bit float holds.
VALUE = "1000000000000000001"
LONGEST_WAIT_SECONDS = 30

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])


def read(transaction_id: str):
    return get_transaction_by_id.sync(RELAYER, transaction_id, client=client).data


def reach(transaction_id: str, status: str):
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    while read(transaction_id).status != status:
        assert time.monotonic() < deadline, f"the transaction did not become {status}"
        time.sleep(0.05)


relayers = list_relayers.sync(client=client)
assert RELAYER in [relayer.id for relayer in relayers.data]

balance = get_relayer_balance.sync(RELAYER, client=client).data.balance
assert isinstance(balance, int) and balance > 2**64, balance

body = EvmTransactionRequest(to=RECEIVER, value=VALUE, speed=Speed.SAFELOW)
sent = send_transaction.sync(RELAYER, client=client, body=body).data
assert sent.value == VALUE, sent.value
reach(sent.id, "submitted")

replacement = EvmTransactionRequest(to=RECEIVER, value="2", speed=Speed.FASTEST)
replaced = replace_transaction.sync(RELAYER, sent.id, client=client, body=replacement).data
assert (replaced.id, replaced.value, replaced.nonce) == (sent.id, "2", read(sent.id).nonce)

refused = replace_transaction.sync(RELAYER, "nothing", client=client, body=replacement)
assert isinstance(refused, Failure) and refused.code == ErrorCode.TRANSACTION_NOT_FOUND, refused

canceled = cancel_transaction.sync(RELAYER, sent.id, client=client).data
assert [attempt.kind for attempt in canceled.attempts][0] == "send", canceled.attempts
print(sent.id)
