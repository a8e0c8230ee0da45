import type {
  Client,
  Hash,
  ReplacementReason,
  Transaction,
  TransactionReceipt,
  Transport,
  WaitForTransactionReceiptParameters,
} from 'viem'
import { getTransaction, waitForTransactionReceipt } from 'viem/actions'
import type { Schemas } from '../operation-types.ts'
import type { RelayerReference } from '../relayer-reference.ts'
import { isNoOp } from '../transactions/attempts.ts'

/** `waitForTransactionReceipt`, with the parameters of viem. */
export type ReceiptWait = (parameters: WaitForTransactionReceiptParameters) => Promise<TransactionReceipt>

type Attempt = Schemas['EvmAttempt']

/**
 * Waits for the receipt of a transaction of the relayer, by the hash of any attempt. The transport answers with the receipt of what the chain
 * includes, in whichever block it is; viem alone would look for a replacement in the newest block, and only there.
 */
export async function waitForReceipt(
  reference: RelayerReference,
  client: Client<Transport>,
  { onReplaced, ...parameters }: WaitForTransactionReceiptParameters,
): Promise<TransactionReceipt> {
  const receipt = await waitForTransactionReceipt(client, { ...parameters, checkReplacement: false })
  if (onReplaced && receipt.transactionHash !== parameters.hash) {
    const transaction = await getTransaction(client, { hash: receipt.transactionHash })
    const { replaced, included } = await findAttempts(reference, parameters.hash, transaction)
    onReplaced({
      reason: reasonOf(replaced, included),
      // The fields of a signature are missing, because the service does not show that of an attempt which was replaced.
      replacedTransaction: { ...transaction, ...contentOf(replaced) } as unknown as Transaction,
      transaction,
      transactionReceipt: receipt,
    })
  }
  return receipt
}

async function findAttempts(
  { client, relayerId }: RelayerReference,
  hash: Hash,
  { hash: includedHash, nonce }: Transaction,
): Promise<{ readonly replaced: Attempt; readonly included: Attempt }> {
  const { attempts = [] } = await client.transactions.getByNonce(relayerId, BigInt(nonce))
  const find = (wanted: Hash) => (attempts as readonly Attempt[]).find((attempt) => attempt.hash === wanted)
  const [replaced, included] = [find(hash), find(includedHash)]
  if (replaced && included) return { replaced, included }
  throw new Error(`hash: relayer ${relayerId} has no transaction with ${hash} and ${includedHash}`)
}

/** Decides in viem's words why an attempt was replaced. */
function reasonOf(replaced: Attempt, included: Attempt): ReplacementReason {
  if (isNoOp(included)) return 'cancelled'
  const isSame =
    replaced.to === included.to && replaced.value === included.value && replaced.data === included.data
  return isSame ? 'repriced' : 'replaced'
}

/** What differs from the included transaction. */
function contentOf({ hash, to, value, data, gas_limit, ...prices }: Attempt) {
  const toWei = (price: string | undefined) => (price === undefined ? undefined : BigInt(price))
  return {
    blockHash: null,
    blockNumber: null,
    transactionIndex: null,
    hash,
    to: to ?? null,
    value: BigInt(value),
    input: data,
    gas: gas_limit,
    gasPrice: toWei(prices.gas_price),
    maxFeePerGas: toWei(prices.max_fee_per_gas),
    maxPriorityFeePerGas: toWei(prices.max_priority_fee_per_gas),
    r: undefined,
    s: undefined,
    v: undefined,
    yParity: undefined,
  }
}
