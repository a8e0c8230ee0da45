import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { InclusionProof } from '../../../src/chains/answer.ts'
import { diagnose } from '../../../src/diagnosis/diagnose.ts'
import { gatherFacts } from '../../../src/diagnosis/facts.ts'
import { listUndecided, storeDecision } from '../../../src/transactions/store/decisions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const UNPROVABLE: InclusionProof = {
  kind: 'unknown',
  detail: 'No endpoint can prove it: the history of every endpoint has a hole.',
  unprovable: true,
}

/** A submitted transaction whose nonce was used, on a chain that tells what it is told to. */
async function startStory() {
  const stub = createStubChain()
  const chain = chainOf(stub)
  const owner = await fixture.addAccount({ chain })
  const [stored] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
  if (!stored) throw new Error('nothing was stored')
  await workAccount(fixture.context, owner.relayer.id)
  const [hash = ''] = stub.broadcasted
  stub.nonce = { kind: 'ok', value: 1n }
  const story = { proof: UNPROVABLE }
  stub.override = { proveInclusion: async () => story.proof }
  const memory = createWatchMemory()
  let height = 100n
  const look = async () => {
    for (let blocks = 0; blocks < 4; blocks += 1) {
      height += 1n
      stub.head = headAt(height)
      await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
      fixture.clock.advance(31_000)
    }
    return reload(fixture.context, stored)
  }
  const decide = (attempt?: number) =>
    storeDecision(fixture.database.db, {
      transactionId: stored.id,
      attempt,
      reason: 'seen in the explorer',
      decidedBy: 'ada',
    })
  return { stored, owner, hash, stub, story, look, decide }
}

async function incidentsOf(id: string): Promise<string[]> {
  const rows = await fixture.database.db
    .selectFrom('events')
    .select('type')
    .where('transaction_id', '=', id)
    .where('type', '<>', 'transaction_update')
    .execute()
  return rows.map(({ type }) => type)
}

describe('a transaction whose inclusion no endpoint can prove', () => {
  test('stays open, says so once by an event, and waits for an operator', async () => {
    const { stored, owner, look } = await startStory()
    await look()
    const item = await look()
    expect(item.transaction.status).toBe('submitted')
    expect(item.transaction.undecidedSince).toBeInstanceOf(Date)
    expect(item.transaction.statusReason).toContain('the history of every endpoint has a hole')
    expect(item.transaction.statusReason).toContain(`relayer tx decide ${stored.id}`)
    expect(await incidentsOf(stored.id)).toEqual(['transaction_undecided'])
    expect((await listUndecided(fixture.database.db)).map(({ id }) => id)).toContain(stored.id)
    const { findings, nextAction } = diagnose(await gatherFacts(fixture.context, owner.relayer, item))
    expect(findings[0].code).toBe('undecided')
    expect(nextAction.message).toContain('relayer tx decide')
  })

  test('is decided by the chain after all where an endpoint with the history comes', async () => {
    const { stored, story, look } = await startStory()
    await look()
    story.proof = { kind: 'absent' }
    const { transaction } = await look()
    expect(transaction).toMatchObject({ status: 'pending', nonce: undefined })
    expect(transaction.undecidedSince).toBeUndefined()
    expect(await incidentsOf(stored.id)).toEqual(['transaction_undecided'])
  })

  test('is signed again when an operator decides that nothing was included, and names the operator', async () => {
    const { look, decide } = await startStory()
    await look()
    expect(await decide()).toBe('stored')
    const { transaction, attempts } = await look()
    expect(transaction).toMatchObject({ status: 'pending', nonce: undefined })
    expect(transaction.undecidedSince).toBeUndefined()
    expect(transaction.statusReason).toContain('operator ada decided so (seen in the explorer)')
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['superseded'])
  })

  test('ends as confirmed when an operator decides that an attempt was included', async () => {
    const { look, decide } = await startStory()
    await look()
    expect(await decide(1)).toBe('stored')
    const { transaction, attempts } = await look()
    expect(transaction).toMatchObject({ status: 'confirmed', currentAttempt: 1, cost: 0n })
    expect(transaction.confirmedAt).toBeInstanceOf(Date)
    expect(transaction.statusReason).toContain('operator ada decided so')
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['mined'])
    expect(await decide(1)).toBe('not_undecided')
  })

  test('is what the chain shows, whatever an operator decided before', async () => {
    const { hash, story, look, decide } = await startStory()
    await look()
    await decide()
    story.proof = {
      kind: 'included',
      number: 1,
      receipt: { hash, blockNumber: 90n, blockHash: '0xblock90', success: true },
    }
    const { transaction } = await look()
    expect(transaction).toMatchObject({ status: 'mined', block: { number: 90n } })
    expect(transaction.undecidedSince).toBeUndefined()
  })
})

test('a decision is about one incident: the next one of the same transaction waits for its own', async () => {
  const { stored, owner, story, stub, look, decide } = await startStory()
  await look()
  await decide()
  expect((await look()).transaction.status).toBe('pending')
  stub.nonce = { kind: 'ok', value: 7n }
  fixture.clock.advance(60_000)
  await workAccount(fixture.context, owner.relayer.id)
  expect((await reload(fixture.context, stored)).transaction).toMatchObject({
    status: 'submitted',
    nonce: 7n,
  })
  stub.nonce = { kind: 'ok', value: 8n }
  story.proof = UNPROVABLE
  await look()
  const { transaction } = await look()
  expect(transaction).toMatchObject({ status: 'submitted', nonce: 7n })
  expect(transaction.undecidedSince).toBeInstanceOf(Date)
  expect(await incidentsOf(stored.id)).toEqual(['transaction_undecided', 'transaction_undecided'])
})

test('a decision is accepted only for a transaction that waits for one, and for an existing attempt', async () => {
  const { stored, look, decide } = await startStory()
  expect(await decide()).toBe('not_undecided')
  await look()
  expect(await decide(7)).toBe('unknown_attempt')
  const stranger = { transactionId: randomUUID(), attempt: undefined, reason: 'x', decidedBy: 'ada' }
  expect(await storeDecision(fixture.database.db, stranger)).toBe('no_such_transaction')
  const rows = await fixture.database.db
    .selectFrom('operator_decisions')
    .selectAll()
    .where('transaction_id', '=', stored.id)
    .execute()
  expect(rows).toEqual([])
})

test('a doubt that may pass is not an incident', async () => {
  const { stored, story, look } = await startStory()
  story.proof = { kind: 'unknown', detail: 'one endpoint did not answer' }
  const { transaction } = await look()
  expect(transaction.status).toBe('submitted')
  expect(transaction.undecidedSince).toBeUndefined()
  expect(await incidentsOf(stored.id)).toEqual([])
})
