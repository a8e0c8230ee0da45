import {
  type BrowserProvider,
  makeError,
  Signature,
  type TransactionReceipt,
  TransactionResponse,
  type TransactionResponseParams,
} from 'ethers'
import { WaitTimeoutError } from '../errors/transaction-errors.ts'
import type { Schemas } from '../operation-types.ts'
import type { RelayerReference } from '../relayer-reference.ts'
import { includedAttempt, isNoOp } from '../transactions/attempts.ts'
import type { Transaction } from '../transactions/wait-for.ts'

interface Sent {
  readonly sent: Transaction
  readonly chainId: bigint
  /** A provider of the same relayer. */
  readonly provider: BrowserProvider
}

/** Makes the response for a signed transaction of a relayer. */
export function createRelayerResponse(reference: RelayerReference, sent: Sent): TransactionResponse {
  return new RelayerTransactionResponse(reference, sent)
}

/** A transaction of a relayer. `wait()` asks the service which attempt counts, instead of looking for a replacement in blocks. */
class RelayerTransactionResponse extends TransactionResponse {
  readonly #reference: RelayerReference
  readonly #id: string
  readonly #provider: BrowserProvider

  constructor(reference: RelayerReference, { sent, chainId, provider }: Sent) {
    super(toParams(sent as Schemas['EvmTransactionWithAttempts'], chainId), provider)
    this.#reference = reference
    this.#id = sent.id
    this.#provider = provider
  }

  /**
   * Resolves to the receipt of what the chain includes, also of a replacement.
   *
   * @throws CALL_EXCEPTION if it reverted, TRANSACTION_REPLACED when it was canceled, TIMEOUT, and TransactionEndedError when the chain will
   * never include it
   */
  override async wait(confirms = 1, timeout = 0): Promise<TransactionReceipt | null> {
    if (confirms === 0) return checked(await this.#provider.getTransactionReceipt(this.hash))
    const { client, relayerId } = this.#reference
    const options = timeout > 0 ? { timeoutMs: timeout } : {}
    const isIncluded = (seen: Transaction) => includedAttempt(seen) !== undefined
    const seen = await client.transactions.waitFor(relayerId, this.#id, isIncluded, options).catch(orTimeout)
    const included = includedAttempt(seen)
    if (included === undefined) return null
    const receipt = await this.#provider.waitForTransaction(included.hash, confirms, timeout || null)
    if (isNoOp(included)) throw await this.#canceled(included.hash, receipt)
    return checked(receipt)
  }

  async #canceled(hash: string, receipt: TransactionReceipt | null): Promise<Error> {
    const replacement = await this.#provider.getTransaction(hash)
    const info = { cancelled: true, reason: 'cancelled', replacement, hash, receipt }
    return makeError('transaction was replaced', 'TRANSACTION_REPLACED', info as never)
  }
}

/** @throws CALL_EXCEPTION, as ethers does, for a transaction that reverted */
function checked(receipt: TransactionReceipt | null): TransactionReceipt | null {
  if (receipt === null || receipt.status !== 0) return receipt
  const { to, from } = receipt
  throw makeError('transaction execution reverted', 'CALL_EXCEPTION', {
    action: 'sendTransaction',
    data: null,
    reason: null,
    invocation: null,
    revert: null,
    transaction: { to, from, data: '' },
    receipt,
  })
}

/** @throws the error, or TIMEOUT of ethers for that of the client */
function orTimeout(error: unknown): never {
  throw error instanceof WaitTimeoutError ? makeError('wait for transaction timeout', 'TIMEOUT') : error
}

/** The attempt that the service shows, in the words of ethers. */
function toParams(sent: Schemas['EvmTransactionWithAttempts'], chainId: bigint): TransactionResponseParams {
  const { r = '', s = '', v = 0 } = sent.signature ?? {}
  const toWei = (price: string | undefined) => (price === undefined ? undefined : BigInt(price))
  const { max_fee_per_gas, max_priority_fee_per_gas, gas_price } = sent
  return {
    blockNumber: null,
    blockHash: null,
    index: 0,
    hash: sent.hash ?? '',
    type: gas_price === undefined ? 2 : 0,
    to: sent.to ?? null,
    from: sent.from,
    nonce: Number(sent.nonce),
    gasLimit: sent.gas_limit ?? 0n,
    gasPrice: BigInt(gas_price ?? max_fee_per_gas ?? 0),
    maxFeePerGas: toWei(max_fee_per_gas) ?? null,
    maxPriorityFeePerGas: toWei(max_priority_fee_per_gas) ?? null,
    data: sent.data ?? '0x',
    value: BigInt(sent.value),
    chainId,
    signature: Signature.from({ r: `0x${r}`, s: `0x${s}`, v: v < 27 ? v + 27 : v }),
    accessList: null,
    authorizationList: null,
  } as unknown as TransactionResponseParams
}
