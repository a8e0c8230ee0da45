import type { Schemas } from '../../src/contract/operations.ts'
import { addressOf, SOL, transferBetween } from '../../test/support/solana-scenario.ts'
import { must, say } from './say.ts'
import type { Stage } from './stage.ts'
import { reach, replaceBy, send, type Transaction } from './transactions.ts'

const RECEIVER = addressOf('receiver')
const OTHER_RECEIVER = addressOf('other receiver')

/** More than a blockhash lives (150), with what it takes to finalize. */
const EXPIRY_BLOCKS = 160

/** Time between two blocks once they are made again, in ms. */
const BLOCK_MS = 100

/** A transfer that no block includes, its replacement, and the proof that only the replacement was executed. */
export async function tellTheSolanaStory(stage: Stage, relayer: Schemas['Relayer']): Promise<void> {
  for (const address of [RECEIVER, OTHER_RECEIVER]) stage.solana.airdrop(address, 10n * SOL)
  const first = await transferUnseen(stage, relayer)
  const kept = await replace(stage, first)
  await expireAndCompare(stage, { first, kept })
}

async function transferUnseen(stage: Stage, relayer: Schemas['Relayer']): Promise<Transaction> {
  say.step('Solana: transfer 1 SOL while the blocks are full: POST …/transactions')
  stage.solana.market.capacity = 0
  const body = transferBetween(relayer.address, RECEIVER, SOL)
  const submitted = await reach(stage, await send(stage, relayer, body), 'submitted')
  describe(submitted)
  return submitted
}

async function replace(stage: Stage, first: Transaction): Promise<Transaction> {
  say.step('Solana: replace it by 2 SOL to a third party: PUT …/transactions/{id}')
  const kept = await replaceBy(stage, first, transferBetween(first.from, OTHER_RECEIVER, 2n * SOL))
  must(kept.attempts.length === 1, 'the replacement was signed while the first could still be included')
  say.fact('status', kept.status)
  say.fact('said', kept.status_reason)
  return kept
}

async function expireAndCompare(
  stage: Stage,
  { first, kept }: { first: Transaction; kept: Transaction },
): Promise<void> {
  say.step(`Solana: ${EXPIRY_BLOCKS} blocks later the first one can never be included; the replacement is`)
  const before = stage.solana.account(RECEIVER)?.lamports
  const otherBefore = stage.solana.account(OTHER_RECEIVER)?.lamports ?? 0n
  stage.solana.dropPending()
  stage.solana.tick(EXPIRY_BLOCKS)
  await reach(stage, kept, 'submitted', ({ attempts }) => attempts.length === 2)
  stage.solana.market.capacity = 1_000
  const blocks = setInterval(() => stage.solana.tick(), BLOCK_MS)
  const final = await reach(stage, kept, 'confirmed').finally(() => clearInterval(blocks))
  describe(final)
  must(stage.solana.included(first.hash ?? '') === undefined, 'the first transfer was included, too')
  must(stage.solana.account(RECEIVER)?.lamports === before, 'the first receiver was paid')
  must(
    stage.solana.account(OTHER_RECEIVER)?.lamports === otherBefore + 2n * SOL,
    'the other receiver was not paid',
  )
  say.line(
    '\nTwo versions could both have been included; the second was signed when the first had provably expired.',
  )
}

function describe({ status, hash }: Transaction): void {
  say.fact('status', status)
  say.fact('signature', hash)
}
