import { FeeBumpTransaction, scValToNative, TransactionBuilder } from '@stellar/stellar-sdk'
import type { AppliedTransaction } from '../../../simulators/stellar/chain.ts'
import type { TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { Frame } from '../../../simulators/stellar/transaction/frame.ts'
import { isSuccess } from '../../../simulators/stellar/transaction/results.ts'
import { innerHashOf } from '../../../simulators/stellar/transaction/wrap.ts'
import type { Transaction } from '../../../test/support/service.ts'
import type { Evidence } from '../check-promises.ts'
import type { ChainRecord, Included } from '../test-chain.ts'
import { ACCOUNTS, addressesOf } from './environment.ts'
import { submit } from './signed.ts'

/**
 * What the ledger can tell of the time from now on. `heard` are all envelopes that the service offered to a node, whether
 * that node was there or not; they are forgotten now.
 */
export function stellarChainRecord(ledger: TestLedger, heard: Set<string>): ChainRecord {
  const height = ledger.ledgers.length
  heard.clear()
  return {
    walk: () => {
      const applied = ledger.ledgers.slice(height).flatMap(({ transactions }) => transactions)
      const offers = offersIn(ledger, heard)
      const walks = ACCOUNTS.map((_, account) => {
        const addresses = addressesOf(account)
        return applied
          .filter(({ frame }) => isOf(frame, addresses, offers))
          .map((one) => toIncluded(one, offers))
      })
      return Promise.resolve(walks)
    },
    differences: (record, shown) => differences(ledger, record, shown),
    problems: async (evidence) => [
      ...evidence.flatMap((one) => falselyFailed(one)),
      ...(await stillPossible(ledger, heard)),
    ],
  }
}

/** What the service offered to nodes with one inner transaction, or one plain one. */
interface Offer {
  /** The relayer's address. */
  readonly payer: string
  /** Of all envelopes around it, oldest first. */
  readonly hashes: readonly string[]
}

/** By the hash of the transaction that takes the sequence number. */
function offersIn({ passphrase }: TestLedger, heard: ReadonlySet<string>): ReadonlyMap<string, Offer> {
  const offers = new Map<string, Offer>()
  for (const envelope of heard) {
    const read = TransactionBuilder.fromXDR(envelope, passphrase)
    const payer = read instanceof FeeBumpTransaction ? read.feeSource : read.source
    const inner = innerHashOf(envelope, passphrase)
    const hash = Buffer.from(read.hash()).toString('hex')
    offers.set(inner, { payer, hashes: [...(offers.get(inner)?.hashes ?? []), hash] })
  }
  return offers
}

/** Its own, what it paid for, or what a third party has sent of what it offered. */
function isOf(
  { feeSource, transaction }: Frame,
  addresses: readonly string[],
  offers: ReadonlyMap<string, Offer>,
): boolean {
  const parties = [feeSource, transaction.source, offers.get(transaction.hash)?.payer]
  return addresses.some((address) => parties.includes(address))
}

/** What a third party has sent is known by the newest envelope that the service offered with the same content. */
function toIncluded(
  { frame, frameResult }: AppliedTransaction,
  offers: ReadonlyMap<string, Offer>,
): Included {
  const { transaction } = frame
  const own = offers.get(transaction.hash)?.hashes ?? []
  const isOurs = own.length === 0 || own.includes(frame.hash)
  return {
    hash: isOurs ? frame.hash : (own.at(-1) ?? frame.hash),
    ...(isOurs ? {} : { appliedHash: frame.hash }),
    sourceAccount: transaction.source,
    nonce: transaction.sequence,
    mark: amountOf(frame),
    success: isSuccess(frameResult),
  }
}

/** What a payment pays, in stroops, or what a contract is called with. */
function amountOf({ transaction }: Frame): string | undefined {
  const body = transaction.operations[0]?.body
  if (body?.type === 'payment') return body.paymentOp.amount.toString()
  const call = body?.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined
  const [value] = call?.type === 'hostFunctionTypeInvokeContract' ? call.invokeContract.args : []
  return value === undefined ? undefined : String(scValToNative(value))
}

function differences(ledger: TestLedger, record: Transaction, shown: Included): string[] {
  const { source_account, sequence_number, fee, transaction_xdr, applied_hash, fee_account, status_reason } =
    record
  const { appliedHash } = shown
  const onChain = ledger.included(appliedHash ?? shown.hash)
  const problems: string[] = []
  if (source_account !== shown.sourceAccount || sequence_number !== shown.nonce.toString()) {
    problems.push(`is in the ledger with ${shown.sourceAccount} ${shown.nonce}`)
  }
  if (String(fee) !== String(onChain?.result.feeCharged)) {
    problems.push(`was charged ${onChain?.result.feeCharged} stroops, and shows ${fee}`)
  }
  if (applied_hash !== onChain?.frame.hash || fee_account !== onChain?.frame.feeSource) {
    problems.push(
      `was applied as ${onChain?.frame.hash} and paid by ${onChain?.frame.feeSource}, and shows otherwise`,
    )
  }
  if (appliedHash === undefined && transaction_xdr !== onChain?.frame.envelope.toXdr('base64')) {
    problems.push('shows another envelope than the ledger holds')
  }
  if (appliedHash !== undefined && status_reason?.includes(appliedHash) !== true) {
    problems.push('was sent by a third party and does not say so')
  }
  return problems
}

/** What failed without a ledger's result says why. */
function falselyFailed({ records }: Evidence): string[] {
  return records
    .filter(({ status, status_reason }) => status === 'failed' && status_reason === undefined)
    .map(({ id }) => `${id} failed and does not say why`)
}

/** With every record final, nothing that ever left the service could be included any more, even by a node that has just come. */
async function stillPossible(ledger: TestLedger, heard: ReadonlySet<string>): Promise<string[]> {
  ledger.dropQueue()
  const problems: string[] = []
  for (const envelope of heard) {
    if ((await submit(ledger, envelope)) === 'PENDING') problems.push(`a node would still take ${envelope}`)
  }
  ledger.dropQueue()
  return problems
}
