import { getBase58Decoder } from '@solana/kit'
import { expect, onTestFinished, test } from 'vitest'
import { createWallet, signContent, transfer, type Wallet } from '../../../../simulators/solana/wallet.ts'
import type { HistoryMark, OwnTransaction } from '../../../../src/chains/capabilities.ts'
import type { SolanaChain } from '../../../../src/chains/solana/types.ts'
import { startFaultyNode } from '../../../support/faulty-node.ts'
import { broadcastDirectly } from '../../../support/solana-scenario.ts'
import { AS_PAYER, instructionsOf, OTHER, SELF, type Stage, sendOn, startStage } from '../build.ts'

/** Reads with these records, by signature. */
async function read(chain: SolanaChain, mark?: HistoryMark, records: readonly string[] = []) {
  await chain.head()
  return chain.history.readAfter(SELF, mark, {
    withoutRecord: async (hashes) => hashes.filter((hash) => !records.includes(hash)),
    unexplained: async (own) => own,
  })
}

/** The mark of an account that has signed nothing yet. */
const markOf = ({ solana }: Stage): HistoryMark => ({ slot: solana.finalizedSlot() })

/** The relayer pays so much, in a block. */
async function pay({ solana, chain }: Stage, lamports: bigint): Promise<string> {
  const { signed } = await sendOn(chain, instructionsOf(transfer(SELF, OTHER, lamports)))
  solana.tick()
  return signed.hash
}

/** Someone pays the relayer so often, in one block. */
async function receive({ solana }: Stage, from: Wallet, count: number): Promise<void> {
  const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
  solana.market.capacity = count
  for (let lamports = 1n; lamports <= count; lamports += 1n) {
    const steps = [transfer(from.address, SELF, lamports)]
    await broadcastDirectly(solana, signContent({ signers: [from], blockhash, steps }).base64)
  }
  solana.tick()
}

/** A signature that no node knows. */
const UNKNOWN_SIGNATURE = getBase58Decoder().decode(new Uint8Array(64).fill(7))

const hashesIn = (answer: Awaited<ReturnType<typeof read>>): readonly string[] | string =>
  answer.kind === 'ok' ? answer.value.unexplained.map(({ hash }: OwnTransaction) => hash) : answer.kind

test('an account that is seen for the first time starts with what it has signed', async () => {
  const stage = await startStage()
  const first = await pay(stage, 1n)
  stage.solana.tick(10)
  const answer = await read(stage.chain)
  expect(answer).toMatchObject({ kind: 'ok', value: { unexplained: [], mark: { hash: first } } })
  if (answer.kind !== 'ok') return
  const second = await pay(stage, 2n)
  stage.solana.tick()
  expect(hashesIn(await read(stage.chain, answer.value.mark))).toEqual([second])
  expect(hashesIn(await read(stage.chain, answer.value.mark, [second]))).toEqual([])
})

test('the mark follows what is final, and nothing before it is told again', async () => {
  const stage = await startStage()
  const start = markOf(stage)
  const first = await pay(stage, 1n)
  stage.solana.tick()
  const early = await read(stage.chain, start, [first])
  expect(early).toMatchObject({ kind: 'ok', value: { unexplained: [] } })
  expect(early.kind === 'ok' && early.value.mark.hash).toBe(undefined)
  stage.solana.tick(10)
  const later = await read(stage.chain, start, [first])
  expect(later).toMatchObject({ kind: 'ok', value: { mark: { hash: first } } })
  if (later.kind === 'ok') expect(hashesIn(await read(stage.chain, later.value.mark))).toEqual([])
})

test('one own transaction is found behind more payments of others than a page lists, also by a node that does not know the mark', async () => {
  const stage = await startStage()
  const start = markOf(stage)
  const own = await pay(stage, 1n)
  const friend = createWallet()
  stage.solana.airdrop(friend.address, 5_000_000_000n)
  await receive(stage, friend, 1_005)
  stage.solana.tick()
  expect(hashesIn(await read(stage.chain, { ...start, hash: UNKNOWN_SIGNATURE }))).toEqual([own])
  expect(hashesIn(await read(stage.chain, start, [own]))).toEqual([])
}, 300_000)

test('without an endpoint that has the history since the mark nothing is known; what any endpoint shows counts', async () => {
  const stage = await startStage()
  const start = markOf(stage)
  const own = await pay(stage, 1n)
  stage.solana.tick()
  const bare = stage.solana.node({ keepsHistory: false })
  const alone = await read(stage.chainAt(bare.url), start)
  expect(alone).toEqual({ kind: 'unknown', detail: 'no endpoint keeps a transaction history' })
  expect(hashesIn(await read(stage.chainAt(bare.url, stage.solana.url), start))).toEqual([own])
  const late = await read(stage.chainAt(stage.solana.replica({ behind: 2 }), stage.solana.url), start)
  expect(hashesIn(late)).toEqual([own])
  stage.solana.skip(3_100)
  stage.solana.tick(10)
  const pruned = stage.solana.node({ historyBlocks: 5 })
  expect(await read(stage.chainAt(pruned.url), start)).toMatchObject({ kind: 'unknown' })
  expect(hashesIn(await read(stage.chainAt(pruned.url, stage.solana.url), start))).toEqual([own])
}, 120_000)

test('a transaction of the account that a node has made up shows nothing', async () => {
  const stage = await startStage()
  const { solana } = stage
  const start = markOf(stage)
  const paid = await pay(stage, 1n)
  solana.tick()
  const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
  const forged = signContent({ signers: [AS_PAYER], blockhash, steps: [transfer(SELF, OTHER, 9n)] })
  const hostile = await startFaultyNode(solana.url)
  onTestFinished(() => hostile.stop())
  const readFrom = async (hash: string) => {
    hostile.habits = {
      lie: ({ method }, reply) => {
        const result = reply.result as never
        if (method === 'getSignaturesForAddress')
          return { ...reply, result: (result as object[]).map((one) => ({ ...one, signature: hash })) }
        const transaction = [forged.base64, 'base64']
        return method === 'getTransaction'
          ? { ...reply, result: { ...(result as object), slot: 5, transaction } }
          : reply
      },
    }
    return read(stage.chainAt(hostile.url), start)
  }
  // Under the signature that it has itself, which is none of the account, and under another one.
  for (const hash of [forged.signature, paid])
    expect(await readFrom(hash)).toEqual({
      kind: 'unknown',
      detail: `no endpoint returned the content of transaction ${hash}`,
    })
})
