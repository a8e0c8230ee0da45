import type { Transaction } from '../../support/service.ts'
import type { AppliedTransaction } from '../../support/stellar/chain.ts'
import type { Frame } from '../../support/stellar/frame.ts'
import { isSuccess } from '../../support/stellar/results.ts'
import type { TestLedger } from '../../support/stellar/start-ledger.ts'
import type { Evidence } from '../judge.ts'
import type { Included, Witness } from '../site.ts'
import { ACCOUNTS } from './ground.ts'
import { submit } from './signed.ts'

/**
 * What the ledger can tell of the time from now on. `heard` are all envelopes that the service offered to a node, whether
 * that node was there or not; they are forgotten now.
 */
export function stellarWitness(ledger: TestLedger, heard: Set<string>): Witness {
  const height = ledger.ledgers.length
  heard.clear()
  return {
    walk: () => {
      const applied = ledger.ledgers.slice(height).flatMap(({ transactions }) => transactions)
      const walks = ACCOUNTS.map(({ keypair }) => {
        const address = keypair.publicKey()
        return applied.filter(({ frame }) => isOf(frame, address)).map(toIncluded)
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

/** Its own, or what it paid for. */
function isOf({ feeSource, transaction }: Frame, address: string): boolean {
  return feeSource === address || transaction.source === address
}

function toIncluded({ frame, verdict }: AppliedTransaction): Included {
  const { transaction } = frame
  return {
    hash: frame.hash,
    line: transaction.source,
    nonce: transaction.sequence,
    mark: amountOf(frame),
    success: isSuccess(verdict),
  }
}

/** What a payment pays, in stroops. */
function amountOf({ transaction }: Frame): string | undefined {
  const body = transaction.operations[0]?.body
  return body?.type === 'payment' ? body.paymentOp.amount.toString() : undefined
}

function differences(ledger: TestLedger, record: Transaction, shown: Included): string[] {
  const { source_account, sequence_number, fee, transaction_xdr } = record
  const held = ledger.included(shown.hash)
  const problems: string[] = []
  if (source_account !== shown.line || sequence_number !== shown.nonce.toString()) {
    problems.push(`is in the ledger with ${shown.line} ${shown.nonce}`)
  }
  if (String(fee) !== String(held?.result.feeCharged)) {
    problems.push(`was charged ${held?.result.feeCharged} stroops, and shows ${fee}`)
  }
  if (transaction_xdr !== held?.frame.envelope.toXdr('base64')) {
    problems.push('shows another envelope than the ledger holds')
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
