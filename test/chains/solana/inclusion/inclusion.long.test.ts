import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { LedgerOptions } from '../../../../simulators/solana/ledger.ts'
import { SYSTEM_PROGRAM } from '../../../../simulators/solana/runtime/programs.ts'
import type { TestSolanaNode } from '../../../../simulators/solana/start-solana.ts'
import { advanceNonce, transfer } from '../../../../simulators/solana/wallet.ts'
import type { InclusionProof } from '../../../../src/chains/answer.ts'
import type { SolanaAttempt, SolanaChain } from '../../../../src/chains/solana/types.ts'
import { createHurriedClock } from '../../../support/clock.ts'
import { startFaultyNode } from '../../../support/faulty-node.ts'
import { SOL } from '../../../support/solana-scenario.ts'
import { startLiar } from '../../one-liar.ts'
import {
  accountWith,
  draftOf,
  instructionsOf,
  OTHER,
  SELF,
  SIGNING_CONTEXT,
  type Stage,
  sendOn,
  startStage,
} from '../build.ts'
import { openNonceAccount } from '../nonces.ts'

/** More blocks than a blockhash lives, and than the newest statuses are remembered without a ledger. */
const LONG = 400

/** Some seconds before the clock of these tests begins. */
const SIGNED_AT = new Date('2025-12-31T23:59:52Z')

let stage: Stage

beforeEach(async () => {
  stage = await startStage()
})

const step = (lamports = 5n) => instructionsOf(transfer(SELF, OTHER, lamports))

/** A node of the network, with a chain that knows only this one. */
function nodeWith(options: LedgerOptions = {}): { node: TestSolanaNode; chain: SolanaChain } {
  const node = stage.solana.node(options)
  return { node, chain: stage.chainAt(node.url) }
}

/** Prepares and signs a transaction, and sends it to no node. */
async function unsent(chain = stage.chain): Promise<SolanaAttempt> {
  const draft = draftOf(await chain.prepare(step(), accountWith()))
  const signed = await stage.chain.sign(draft, SIGNING_CONTEXT)
  return {
    number: 1,
    kind: 'send',
    sourceAccount: SELF,
    draft,
    signed,
    signedAt: new Date(0),
    outcome: 'signed',
  }
}

/** Returns the chain's proof of the attempts, as of its newest finalized slot. */
async function fateOf(chain: SolanaChain, ...attempts: readonly SolanaAttempt[]): Promise<InclusionProof> {
  return chain.proveInclusion(attempts, { asOf: stage.solana.finalizedSlot(), since: SIGNED_AT })
}

describe('absence', () => {
  test('is proved by a ledger without holes over the whole life', async () => {
    const attempt = await unsent()
    stage.solana.tick(LONG)
    expect(await fateOf(stage.chain, attempt)).toEqual({ kind: 'absent' })
  })

  test('is proved long after it, and over skipped slots', async () => {
    const attempt = await unsent()
    for (let round = 0; round < 40; round += 1) {
      stage.solana.skip(9)
      stage.solana.tick(50)
    }
    expect(await fateOf(stage.chain, attempt)).toEqual({ kind: 'absent' })
  })

  test('is not proved of what is in the chain', async () => {
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(LONG)
    expect(await fateOf(stage.chain, attempt)).toMatchObject({ kind: 'included', number: 1 })
  })

  test('is proved of all attempts or of none', async () => {
    const sent = { ...(await sendOn(stage.chain, step())), number: 2 }
    const never = await unsent()
    stage.solana.tick(LONG)
    expect(await fateOf(stage.chain, never, sent)).toMatchObject({ kind: 'included', number: 2 })
  })
})

describe('many at the same time', () => {
  test('share their questions', async () => {
    const counting = await startFaultyNode(stage.solana.url)
    try {
      const attempts: SolanaAttempt[] = []
      for (let made = 0; made < 30; made += 1) {
        attempts.push(made === 7 ? await sendOn(stage.chain, step()) : await unsent())
        stage.solana.tick()
      }
      stage.solana.tick(LONG)
      const chain = stage.chainAt(counting.url)
      const fates = await Promise.all(attempts.map((attempt) => fateOf(chain, attempt)))
      expect(fates.map(({ kind }) => kind)).toEqual(
        attempts.map((_, index) => (index === 7 ? 'included' : 'absent')),
      )
      // Before their ledger was read, and after it.
      expect(counting.calls.get('getSignatureStatuses')).toBe(2)
      expect(counting.calls.get('getBlocks')).toBe(1)
      expect(counting.calls.get('minimumLedgerSlot')).toBe(1)
    } finally {
      await counting.stop()
    }
  })

  test('are told apart where only some can be proved', async () => {
    const { node, chain } = nodeWith()
    const early = [await unsent(), await unsent()]
    stage.solana.tick(130)
    node.jump(20)
    stage.solana.tick(80)
    // The first one goes on giving its last blockhash: its clock stands still.
    const later = stage.chainAt(stage.solana.url)
    const late = [await unsent(later), await unsent(later)]
    stage.solana.tick(LONG)
    const fates = await Promise.all([...early, ...late].map((attempt) => fateOf(chain, attempt)))
    expect(fates).toMatchObject([
      { kind: 'unknown', unprovable: true },
      { kind: 'unknown', unprovable: true },
      { kind: 'absent' },
      { kind: 'absent' },
    ])
  })

  test('that are hopeless are not looked for in ledgers at every look, and found all the same', async () => {
    const { node } = nodeWith({ historyBlocks: 100 })
    const counting = await startFaultyNode(node.url)
    try {
      const clock = createHurriedClock()
      const chain = (await startStage({ clock })).chainAt(counting.url)
      const attempt = await sendOn(stage.chain, step())
      stage.solana.tick(LONG)
      const asked = async () => {
        const before = counting.calls.get('getBlocks') ?? 0
        expect(await fateOf(chain, attempt)).toMatchObject({ unprovable: true })
        return (counting.calls.get('getBlocks') ?? 0) > before
      }
      expect([await asked(), await asked()]).toEqual([true, false])
      await clock.sleep(30_000)
      expect([await asked(), await asked()]).toEqual([true, false])
      node.options.historyBlocks = 2_000
      expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'included' })
    } finally {
      await counting.stop()
    }
  })
})

describe('a node that restarted on a newer snapshot', () => {
  test('does not prove that what it missed was never included', async () => {
    const { node, chain } = nodeWith()
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(20)
    node.jump(20)
    stage.solana.tick(LONG)
    expect(stage.solana.included(attempt.signed.hash)).toBeDefined()
    expect(await fateOf(chain, attempt)).toMatchObject({
      kind: 'unknown',
      unprovable: true,
      detail: expect.stringContaining('lacks'),
    })
  })

  test('does not prove it of what was never included either', async () => {
    const { node, chain } = nodeWith()
    const attempt = await unsent()
    stage.solana.tick(20)
    node.jump(3)
    stage.solana.tick(LONG)
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'unknown', unprovable: true })
  })

  test('still proves what lies behind the hole', async () => {
    const { node, chain } = nodeWith()
    node.jump(200)
    stage.solana.tick(LONG)
    const attempt = await unsent()
    stage.solana.tick(LONG)
    expect(await fateOf(chain, attempt)).toEqual({ kind: 'absent' })
  })

  test('still knows what its status cache holds', async () => {
    const { node, chain } = nodeWith()
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(20)
    node.jump(20)
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'included' })
  })

  test('does not prove by its status cache what died a moment ago: nothing tells whether that has signatures', async () => {
    const { node, chain } = nodeWith()
    const attempt = await unsent()
    stage.solana.tick(20)
    node.jump(20)
    stage.solana.tick(185)
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'unknown', unprovable: true })
  })

  test('does not prove anything when it gets its blocks back between the questions', async () => {
    const { node } = nodeWith()
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(20)
    node.jump(20, 'firedancer')
    stage.solana.tick(185)
    const front = await startFaultyNode(node.url)
    onTestFinished(() => front.stop())
    front.fault = (methods) => {
      if (methods.includes('getBlocks')) node.restore()
      return 'pass'
    }
    const chain = stage.chainAt(front.url)
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'unknown' })
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'included' })
  })

  test('does not prove that what it missed was never included, where the snapshot has no signatures', async () => {
    const { node, chain } = nodeWith()
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(20)
    node.jump(20, 'firedancer')
    expect(await chain.receipts([attempt.signed.hash])).toEqual([{ kind: 'none' }])
    stage.solana.tick(185)
    expect(stage.solana.included(attempt.signed.hash)).toBeDefined()
    expect(await fateOf(chain, attempt)).toMatchObject({
      kind: 'unknown',
      unprovable: true,
      detail: expect.stringContaining('lacks'),
    })
    expect(await fateOf(stage.chainAt(node.url, stage.solana.url), attempt)).toMatchObject({
      kind: 'included',
    })
  })

  test('is outdone by another that has the blocks', async () => {
    const { node } = nodeWith()
    const both = stage.chainAt(node.url, stage.solana.url)
    const [sent, never] = [await sendOn(stage.chain, step()), await unsent()]
    stage.solana.tick(20)
    node.jump(20)
    stage.solana.tick(LONG)
    expect(await fateOf(both, sent)).toMatchObject({ kind: 'included' })
    expect(await fateOf(both, never)).toEqual({ kind: 'absent' })
  })

  test('does not prove that a durable nonce was advanced by a third party', async () => {
    const { node, chain } = nodeWith()
    const nonce = await openNonceAccount(stage, SELF)
    const request = instructionsOf(advanceNonce(nonce, SELF), transfer(SELF, OTHER, 7n))
    const attempt = await sendOn(stage.chain, request)
    stage.solana.tick(20)
    node.jump(20)
    stage.solana.tick(LONG)
    const head = await chain.head()
    if (head.kind !== 'ok') throw new Error(head.kind)
    expect(await chain.expiry.hasExpired(attempt.draft, head.value)).toBe(true)
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'unknown', unprovable: true })
    expect(await fateOf(stage.chain, attempt)).toMatchObject({ kind: 'included' })
  })
})

test.each([
  ['exists since a block that is not final', async () => openNonceAccount(stage, SELF)],
  [
    'was advanced in a block that is not final',
    async () => {
      const nonce = await openNonceAccount(stage, SELF)
      stage.solana.tick(LONG)
      await sendOn(stage.chain, instructionsOf(advanceNonce(nonce, SELF)))
      stage.solana.tick(2)
      return nonce
    },
  ],
])('a durable nonce has not expired because its account %s', async (_, open) => {
  const nonce = await open()
  const request = instructionsOf(advanceNonce(nonce, SELF), transfer(SELF, OTHER, 7n))
  const draft = draftOf(await stage.chain.prepare(request, accountWith()))
  const looks: boolean[] = []
  for (let block = 0; block < 40; block += 1) {
    const head = await stage.chain.head()
    if (head.kind !== 'ok') throw new Error(head.kind)
    looks.push(await stage.chain.expiry.hasExpired(draft, head.value))
    stage.solana.tick()
  }
  expect(new Set(looks)).toEqual(new Set([false]))
})

test.each([
  { endpoints: 2, liars: 1, expired: false },
  { endpoints: 3, liars: 1, expired: false },
  { endpoints: 3, liars: 3, expired: true },
])(
  'a durable nonce is used when more than half of $endpoints endpoints say so: $liars',
  async ({ endpoints, liars, expired }) => {
    const nonce = await openNonceAccount(stage, SELF)
    const draft = draftOf(
      await stage.chain.prepare(
        instructionsOf(advanceNonce(nonce, SELF), transfer(SELF, OTHER, 7n)),
        accountWith(),
      ),
    )
    stage.solana.tick(LONG)
    const fronts = await Promise.all(
      Array.from({ length: endpoints }, (_, index) =>
        startLiar(stage.solana.url, (method, reply) =>
          index < liars && method === 'getMultipleAccounts'
            ? { ...reply, result: { ...(reply.result as object), value: [null] } }
            : reply,
        ),
      ),
    )
    onTestFinished(() => Promise.all(fronts.map((front) => front.stop())).then(() => undefined))
    const chain = stage.chainAt(...fronts.map(({ url }) => url))
    const head = await chain.head()
    if (head.kind !== 'ok') throw new Error(head.kind)
    expect(await chain.expiry.hasExpired(draft, head.value)).toBe(expired)
  },
)

test('a hole in the life of a later attempt hides it, although the life of the earlier one has none', async () => {
  const { node, chain } = nodeWith()
  const earlier = await unsent()
  stage.solana.tick(200)
  const later = { ...(await unsent(chain)), number: 2 }
  expect(later.draft.expiresAt).toBeGreaterThan(earlier.draft.expiresAt ?? 0n)
  stage.solana.tick(20)
  node.jump(20)
  stage.solana.tick(LONG)
  expect(await fateOf(chain, earlier)).toEqual({ kind: 'absent' })
  expect(await fateOf(chain, earlier, later)).toMatchObject({ kind: 'unknown' })
})

test('a blockhash has not expired by a height that only the endpoint of the head names', async () => {
  const { draft } = await unsent()
  const both = stage.chainAt(stage.solana.url, nodeWith().node.url)
  const head = { number: 1_000_000n, hash: 'made up' }
  const expiredAt = (expiredUpTo: bigint | undefined, chain = both) =>
    chain.expiry.hasExpired(draft, { ...head, ...(expiredUpTo !== undefined && { expiredUpTo }) })
  const { expiresAt = 0n } = draft
  expect(await expiredAt(expiresAt)).toBe(false)
  // The only endpoint of a network has the last word.
  expect(await expiredAt(expiresAt, stage.chain)).toBe(true)
  stage.solana.tick(LONG)
  expect(await expiredAt(expiresAt)).toBe(true)
  expect(await expiredAt(expiresAt - 1n)).toBe(false)
  expect(await expiredAt(undefined)).toBe(false)
})

describe('a durable nonce in a transaction that was not executed', () => {
  test('is open as long as it may be executed, and undecided once something else has used it', async () => {
    const relaxed = await startStage({ noOps: 'nonces' })
    const nonce = await openNonceAccount(relaxed, SELF)
    const request = instructionsOf(advanceNonce(nonce, SELF), transfer(SELF, OTHER, 7n))
    const attempt = await sendOn(relaxed.chain, request)
    setBalance(relaxed, 0n)
    relaxed.solana.tick(40)
    expect(relaxed.solana.included(attempt.signed.hash)).toMatchObject({ err: 'AccountNotFound' })
    const [receipt] = await relaxed.chain.receipts([attempt.signed.hash])
    if (receipt?.kind !== 'included') throw new Error(receipt?.kind)
    expect(receipt.receipt).toMatchObject({ success: false, executed: 'no', result: { feeCharged: 0n } })
    expect(relaxed.chain.expiry.mayStillExecute?.(attempt.draft, receipt.receipt)).toBe(true)

    // The same transfer with other bytes uses the nonce.
    setBalance(relaxed, 10n * SOL)
    const second = await sendOn(relaxed.chain, { ...request, speed: 'fastest' })
    expect(second.signed.hash).not.toBe(attempt.signed.hash)
    relaxed.solana.tick(40)
    const freshness = { asOf: relaxed.solana.finalizedSlot(), since: SIGNED_AT }
    expect(await relaxed.chain.proveInclusion([attempt], freshness)).toMatchObject({
      kind: 'unknown',
      unprovable: true,
      detail: expect.stringContaining('without having executed it'),
    })
    const both = [attempt, { ...second, number: 2 }]
    expect(await relaxed.chain.proveInclusion(both, freshness)).toMatchObject({ kind: 'included', number: 2 })
  })

  test('is not told apart from an execution by a node that has no history, so it stays open', async () => {
    const relaxed = await startStage({ noOps: 'nonces' })
    const nonce = await openNonceAccount(relaxed, SELF)
    const attempt = await sendOn(
      relaxed.chain,
      instructionsOf(advanceNonce(nonce, SELF), transfer(SELF, OTHER, 7n)),
    )
    setBalance(relaxed, 100_000n)
    relaxed.solana.tick(5)
    const chain = relaxed.chainAt(relaxed.solana.node({ keepsHistory: false }).url)
    const [receipt] = await chain.receipts([attempt.signed.hash])
    if (receipt?.kind !== 'included') throw new Error(receipt?.kind)
    expect(receipt.receipt).toMatchObject({ success: false, executed: 'unknown' })
    expect(chain.expiry.mayStillExecute?.(attempt.draft, receipt.receipt)).toBe(true)
    const [known] = await relaxed.chain.receipts([attempt.signed.hash])
    expect(known).toMatchObject({ receipt: { executed: 'no' } })
  })
})

/** Sets what the relayer has, as if it had always had it. */
function setBalance({ solana }: Stage, lamports: bigint): void {
  solana.plant(SELF, { lamports, data: new Uint8Array(), owner: SYSTEM_PROGRAM, executable: false })
}

describe('the first block that a node tells of proves nothing', () => {
  test('where it is 0 because the node is fresh', async () => {
    const { node, chain } = nodeWith({ fresh: true })
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(LONG)
    node.options.historyBlocks = 100
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'unknown', unprovable: true })
  })

  test('where it is that of a long-term storage whose errors look like an unknown signature', async () => {
    const { node, chain } = nodeWith({ historyBlocks: 100, longTermStorage: 'working' })
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(LONG)
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'included' })
    node.options.longTermStorage = 'failing'
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'unknown' })
  })

  test('where a storage lists the blocks and cannot tell what is in them', async () => {
    const { node, chain } = nodeWith({ historyBlocks: 100, longTermStorage: 'working' })
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(LONG)
    node.options.longTermStorage = 'without_signatures'
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'unknown', unprovable: true })
  })

  test('where it was started with transaction history only later', async () => {
    const { node, chain } = nodeWith()
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(100)
    node.options.historySince = stage.solana.slot()
    stage.solana.tick(LONG)
    expect(await fateOf(chain, attempt)).toMatchObject({ kind: 'unknown', unprovable: true })
    // Another node that cannot prove it either, but tells of the heights.
    const pruned = stage.solana.node({ historyBlocks: 100, longTermStorage: 'without_signatures' })
    expect(await fateOf(stage.chainAt(node.url, pruned.url), attempt)).toMatchObject({ kind: 'unknown' })
  })

  test('where the ledger does not reach back', async () => {
    const { node, chain } = nodeWith()
    const attempt = await unsent()
    stage.solana.tick(LONG)
    node.options.historyBlocks = 300
    expect(await fateOf(chain, attempt)).toMatchObject({
      kind: 'unknown',
      unprovable: true,
      detail: expect.stringMatching(/attach an endpoint/i),
    })
    node.options.historyBlocks = 2_000
    expect(await fateOf(stage.chainAt(node.url), attempt)).toEqual({ kind: 'absent' })
  })
})

describe('a node without history', () => {
  test('says what is included, and denies nothing', async () => {
    const { chain } = nodeWith({ keepsHistory: false })
    const [sent, never] = [await sendOn(stage.chain, step()), await unsent()]
    stage.solana.tick()
    const asked = [sent, never].map(({ signed }) => signed.hash)
    expect(await chain.receipts(asked)).toMatchObject([{ kind: 'included' }, { kind: 'unknown' }])
    stage.solana.tick(200)
    expect(await chain.receipts([sent.signed.hash])).toMatchObject([
      { kind: 'included', receipt: { final: true } },
    ])
    expect(await fateOf(chain, sent)).toMatchObject({ kind: 'included' })
    expect(await fateOf(chain, never)).toMatchObject({
      kind: 'unknown',
      unprovable: true,
      detail: expect.stringContaining('transaction history'),
    })
  })

  test('leaves the word to one that has it', async () => {
    const { node } = nodeWith({ keepsHistory: false })
    const both = stage.chainAt(node.url, stage.solana.url)
    const never = await unsent()
    stage.solana.tick(LONG)
    for (let round = 0; round < 5; round += 1)
      expect(await both.receipts([never.signed.hash])).toEqual([{ kind: 'none' }])
    expect(await fateOf(both, never)).toEqual({ kind: 'absent' })
  })
})

/** I6: unknown is never no. */
describe('nothing is decided', () => {
  test('by a node that is behind', async () => {
    const attempt = await unsent()
    stage.solana.tick(LONG)
    const behind = stage.chainAt(stage.solana.replica({ behind: 6 }))
    const fate = await fateOf(behind, attempt)
    expect(fate.kind).toBe('unknown')
    expect(fate).not.toHaveProperty('unprovable')
    const both = stage.chainAt(stage.solana.url, stage.solana.replica({ behind: 3 }))
    expect(await fateOf(both, attempt)).toMatchObject({ kind: 'unknown' })
  })

  test.each(['getBlocks', 'getSignatureStatuses', 'minimumLedgerSlot'])(
    'while a node does not answer to %s',
    async (method) => {
      const attempt = await unsent()
      stage.solana.tick(LONG)
      const broken = await startFaultyNode(stage.solana.url)
      broken.fault = (methods) => (methods.includes(method) ? 'drop' : 'pass')
      try {
        const fate = await fateOf(stage.chainAt(broken.url), attempt)
        expect(fate.kind).toBe('unknown')
        expect(fate).not.toHaveProperty('unprovable')
        // The complete ledger of another endpoint is the word of one: a lie, or a hole in its index, would pay twice.
        const both = await fateOf(stage.chainAt(broken.url, stage.solana.url), attempt)
        expect(both).toMatchObject({
          kind: 'unknown',
          detail: expect.stringContaining('has all of these blocks, and none contains it'),
        })
        broken.fault = () => 'pass'
        expect(await fateOf(stage.chainAt(broken.url, stage.solana.url), attempt)).toEqual({ kind: 'absent' })
      } finally {
        await broken.stop()
      }
    },
  )

  test('when a node is pruned between two questions', async () => {
    const { node } = nodeWith()
    const gate = await startFaultyNode(node.url)
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick(LONG)
    try {
      // The ledger is whole when its blocks are listed.
      node.options.historyBlocks = 100
      gate.fault = (methods) => {
        node.options.historyBlocks =
          methods.includes('getBlocks') && !methods.includes('getSignatureStatuses') ? 2_000 : 100
        return 'pass'
      }
      expect((await fateOf(stage.chainAt(gate.url), attempt)).kind).toBe('unknown')
    } finally {
      await gate.stop()
    }
  })
})
