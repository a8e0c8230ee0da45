import type { AppliedTransaction } from '../../../simulators/solana/chain/block.ts'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import type { TestSolana } from '../../../simulators/solana/start-solana.ts'
import type { Transaction } from '../../../test/support/service.ts'
import { broadcastDirectly } from '../../../test/support/solana-scenario.ts'
import type { Evidence } from '../check-promises.ts'
import type { ChainRecord, Included } from '../test-chain.ts'
import { ACCOUNTS, addressesOf } from './environment.ts'

/**
 * What the network can tell of the time from now on. `heard` are all transactions that the service offered to a node, whether
 * that node was there or not; they are forgotten now.
 */
export function solanaChainRecord(solana: TestSolana, heard: Set<string>): ChainRecord {
  const start = solana.slot()
  heard.clear()
  return {
    walk: () => {
      const applied = solana.blocks
        .filter(({ slot }) => slot > start)
        .flatMap(({ transactions }) => transactions)
      return Promise.resolve(
        ACCOUNTS.map((account) => {
          const addresses: readonly (string | undefined)[] = addressesOf(account)
          return applied.filter(({ keys }) => addresses.includes(keys[0])).map(toIncluded)
        }),
      )
    },
    differences: (record, shown) => differences(solana, record, shown),
    problems: async (evidence) => [
      ...evidence.flatMap((one) => falselyFailed(one)),
      ...(await stillPossible(solana, heard)),
    ],
  }
}

function toIncluded(applied: AppliedTransaction): Included {
  return {
    hash: applied.signature,
    sourceAccount: applied.keys[0] ?? '',
    // There are no nonces; for a person the slot says most.
    nonce: applied.slot,
    mark: amountOf(applied),
    success: applied.err === null,
  }
}

/** `SystemInstruction::Transfer`: its number, and then the lamports. */
const TRANSFER = 2
const TRANSFER_BYTES = 12

/** What a transfer moves, in lamports. */
function amountOf({ keys, transaction }: AppliedTransaction): string | undefined {
  const moved = transaction.message.instructions
    .filter(({ programIndex }) => keys[programIndex] === SYSTEM_PROGRAM)
    .map(({ data }) => Buffer.from(data))
    .find((data) => data.length === TRANSFER_BYTES && data.readUInt32LE() === TRANSFER)
  return moved?.readBigUInt64LE(4).toString()
}

function differences(solana: TestSolana, record: Transaction, { hash }: Included): string[] {
  const onChain = solana.included(hash)
  if (onChain === undefined) return ['is confirmed, and the network does not know its signature']
  const problems: string[] = []
  if (onChain.slot > solana.finalizedSlot())
    problems.push(`is confirmed, and slot ${onChain.slot} is not final`)
  if (record.transaction_signature !== hash) problems.push(`shows signature ${record.transaction_signature}`)
  if (String(record.fee) !== String(onChain.fee)) {
    problems.push(`was charged ${onChain.fee} lamports, and shows ${record.fee}`)
  }
  if (record.transaction !== Buffer.from(onChain.transaction.bytes).toString('base64')) {
    problems.push('shows other bytes than the network holds')
  }
  return problems
}

/** What failed says why. */
function falselyFailed({ records }: Evidence): string[] {
  return records
    .filter(({ status, status_reason }) => status === 'failed' && status_reason === undefined)
    .map(({ id }) => `${id} failed and does not say why`)
}

/** With every record final, nothing that ever left the service is included any more, anyone who offers it again. */
async function stillPossible(solana: TestSolana, heard: ReadonlySet<string>): Promise<string[]> {
  solana.dropPending()
  for (const transaction of heard) await broadcastDirectly(solana, transaction)
  const { transactions } = solana.tick()
  return transactions.map(({ signature }) => `${signature} could still be included`)
}
