"""Sends, reads, replaces and cancels a transaction with the Python client that openapi-generator made."""

import os
import time

import openapi_client
from openapi_client import EvmTransactionRequest, TransactionRequest

RELAYER = "main"
RECEIVER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
# More than a 64-bit float holds.
VALUE = "1000000000000000001"
LONGEST_WAIT_SECONDS = 30

configuration = openapi_client.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"])
client = openapi_client.ApiClient(configuration)
relayers = openapi_client.RelayersApi(client)
transactions = openapi_client.TransactionsApi(client)


def request(value: str, speed: str) -> TransactionRequest:
    return TransactionRequest(EvmTransactionRequest(to=RECEIVER, value=value, speed=speed))


def read(transaction_id: str):
    return transactions.get_transaction_by_id(RELAYER, transaction_id).data.actual_instance


def reach(transaction_id: str, status: str):
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    while read(transaction_id).status != status:
        assert time.monotonic() < deadline, f"the transaction did not become {status}"
        time.sleep(0.05)


assert RELAYER in [relayer.actual_instance.id for relayer in relayers.list_relayers().data]

balance = relayers.get_relayer_balance(RELAYER).data.balance
assert isinstance(balance, int) and balance > 2**64, balance

sent = transactions.send_transaction(RELAYER, request(VALUE, "safeLow")).data.actual_instance
assert sent.value == VALUE, sent.value
reach(sent.id, "submitted")

replaced = transactions.replace_transaction(RELAYER, sent.id, request("2", "fastest")).data.actual_instance
assert (replaced.id, replaced.value, replaced.nonce) == (sent.id, "2", read(sent.id).nonce)

try:
    transactions.replace_transaction(RELAYER, "nothing", request("2", "fastest"))
    raise AssertionError("a transaction that does not exist was replaced")
except openapi_client.exceptions.NotFoundException as error:
    assert error.data.code == openapi_client.ErrorCode.TRANSACTION_NOT_FOUND, error.data

canceled = transactions.cancel_transaction(RELAYER, sent.id).data.actual_instance
assert canceled.attempts[0].kind == "send", canceled.attempts
print(sent.id)
