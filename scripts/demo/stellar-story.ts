import type { Schemas } from '../../src/contract/operations.ts'
import { keypairOf } from '../../test/support/stellar-scenario.ts'
import { must, say } from './say.ts'
import type { Stage } from './stage.ts'
import { reach, replaceBy, send, type Transaction } from './transactions.ts'

const RECEIVER = keypairOf('receiver').publicKey()
const OTHER_RECEIVER = keypairOf('other receiver').publicKey()

/** A lumen, in stroops. */
const XLM = 10_000_000n

/** A payment, its replacement while it waits in the queue, and what the ledger made of both. */
export async function tellTheStellarStory(stage: Stage, relayer: Schemas['Relayer']): Promise<void> {
  for (const address of [RECEIVER, OTHER_RECEIVER]) stage.ledger.fund(address, 100n * XLM)
  const first = await pay(stage, relayer)
  const second = await replace(stage, first)
  await closeAndCompare(stage, { first, second })
}

async function pay(stage: Stage, relayer: Schemas['Relayer']): Promise<Transaction> {
  say.step('Stellar: pay 1 lumen: POST …/transactions')
  const submitted = await reach(stage, await send(stage, relayer, payment(RECEIVER, XLM)), 'submitted')
  describe(submitted)
  must(stage.ledger.queue().length === 1, 'the payment does not wait in the queue of the network')
  say.fact('node', 'holds it in its queue, in no ledger')
  return submitted
}

async function replace(stage: Stage, first: Transaction): Promise<Transaction> {
  say.step('Stellar: replace it by 2 lumens to a third party: PUT …/transactions/{id}')
  const second = await replaceBy(stage, first, payment(OTHER_RECEIVER, 2n * XLM))
  describe(second)
  must(second.sequence_number === first.sequence_number, 'the replacement has another sequence number')
  must(second.fee_bump === true && second.hash !== first.hash, 'the replacement is not in a fee bump')
  return second
}

async function closeAndCompare(
  stage: Stage,
  { first, second }: { first: Transaction; second: Transaction },
): Promise<void> {
  say.step('Stellar: close the ledger, and ask both the service and the ledger what happened')
  const before = stage.ledger.account(RECEIVER)?.balance
  const otherBefore = stage.ledger.account(OTHER_RECEIVER)?.balance ?? 0n
  stage.ledger.close()
  const final = await reach(stage, second, 'confirmed')
  must(stage.ledger.included(second.hash ?? '') !== undefined, 'the replacement was not included')
  must(stage.ledger.included(first.hash ?? '') === undefined, 'the replaced payment was included, too')
  must(stage.ledger.account(RECEIVER)?.balance === before, 'the first receiver was paid')
  must(
    stage.ledger.account(OTHER_RECEIVER)?.balance === otherBefore + 2n * XLM,
    'the other receiver was not paid',
  )
  describe(final)
  say.fact('first hash', `${first.hash} was never included`)
  say.line('\nOne sequence number was used, and the replacement is what the ledger has.')
}

function payment(destination: string, stroops: bigint): object {
  return {
    network: 'standalone',
    operations: [{ type: 'payment', destination, asset: { type: 'native' }, amount: String(stroops) }],
  }
}

function describe({ status, hash, sequence_number, fee, fee_bump }: Transaction): void {
  say.fact('status', status)
  say.fact('hash', hash)
  say.fact('sequence', sequence_number)
  say.fact('fee', `${fee} stroops${fee_bump ? ', in a fee bump' : ''}`)
}
