import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLI_AUTHOR } from '../../../src/audit/entry.ts'
import type { InclusionProof } from '../../../src/chains/answer.ts'
import { diagnose } from '../../../src/diagnosis/diagnose.ts'
import { gatherFacts } from '../../../src/diagnosis/facts.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { listUndecided } from '../../../src/transactions/store/decisions-store.ts'
import { findDueRelayers, measureInFlight, reservedBy } from '../../../src/transactions/store/due-store.ts'
import { findQueueHeads } from '../../../src/transactions/store/queue-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { decideTransaction } from '../../../src/transactions/watch/decide.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { ACTOR, CANCELS } from '../../support/samples.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt } from '../stub-chain.ts'

const DECIDING = { author: CLI_AUTHOR, now: new Date() }

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
async function startStory({ sharedAccount = true } = {}) {
  const stub = createStubChain()
  const chain = chainOf(stub)
  const owner = await fixture.addAccount({ chain, policies: { sharedAccount } })
  const [stored] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
  if (!stored) throw new Error('nothing was stored')
  await workAccount(fixture.context, owner.relayer.id)
  const [hash = ''] = stub.broadcasted
  stub.nonce = { kind: 'ok', value: 1n }
  const story: { proof: InclusionProof } = { proof: UNPROVABLE }
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
    decideTransaction(
      fixture.database.db,
      {
        transactionId: stored.id,
        included: attempt !== undefined,
        attempt,
        reason: 'seen in the explorer',
        decidedBy: 'ada',
      },
      DECIDING,
    )
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

  test('because an endpoint is silent is announced after a quarter of an hour, and decided when it speaks', async () => {
    const { stored, story, look } = await startStory()
    story.proof = { kind: 'unknown', detail: 'rpc.example does not answer.' }
    for (let minutes = 0; minutes < 14; minutes += 2)
      expect((await look()).transaction.undecidedSince).toBeUndefined()
    await look()
    const { transaction } = await look()
    expect(transaction).toMatchObject({ status: 'submitted', undecidedSince: expect.any(Date) })
    expect(transaction.statusReason).toContain('rpc.example does not answer.')
    expect(await incidentsOf(stored.id)).toEqual(['transaction_undecided'])
    story.proof = { kind: 'absent' }
    expect((await look()).transaction).toMatchObject({ status: 'pending', undecidedSince: undefined })
  })

  test('is proved by the endpoints of the operator alone where a caller chose the others', async () => {
    const { stub, story, look } = await startStory()
    const operators = { proof: UNPROVABLE as InclusionProof }
    story.proof = { kind: 'absent' }
    stub.override = {
      ...stub.override,
      trustedChain: {
        proveInclusion: async () => operators.proof,
        receiptsEverywhere: async () => [],
        endpoints: () => [],
      },
    }
    expect((await look()).transaction).toMatchObject({
      status: 'submitted',
      undecidedSince: expect.any(Date),
    })
    operators.proof = { kind: 'absent' }
    expect((await look()).transaction).toMatchObject({ status: 'pending', undecidedSince: undefined })
  })

  test('is signed again when an operator decides that nothing was included, and names the operator', async () => {
    const { look, decide } = await startStory()
    await look()
    expect(await decide()).toBe('stored')
    const { transaction, attempts } = await look()
    expect(transaction).toMatchObject({ status: 'pending', nonce: undefined })
    expect(transaction.undecidedSince).toBeUndefined()
    expect(transaction.statusReason).toContain('operator ada decided this (seen in the explorer)')
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['superseded'])
  })

  test('ends as confirmed when an operator decides that an attempt was included', async () => {
    const { look, decide } = await startStory()
    await look()
    expect(await decide(1)).toBe('stored')
    const { transaction, attempts } = await look()
    expect(transaction).toMatchObject({ status: 'confirmed', currentAttempt: 1, cost: 0n })
    expect(transaction.confirmedAt).toBeInstanceOf(Date)
    expect(transaction.statusReason).toContain('operator ada decided this')
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

describe('an undecided transaction', () => {
  test('is not broadcast, keeps its reason whatever a node answers, and holds up no slot and no money', async () => {
    const { stored, owner, stub, look } = await startStory()
    const { transaction: told } = await look()
    const before = stub.broadcasted.length
    fixture.clock.advance(600_000)
    expect(await findDueRelayers(fixture.database.db, new Date(fixture.clock.now()))).not.toContain(
      owner.relayer.id,
    )
    await workAccount(fixture.context, owner.relayer.id)
    expect(stub.broadcasted).toHaveLength(before)
    expect((await reload(fixture.context, stored)).transaction).toMatchObject({
      statusReason: told.statusReason,
      version: told.version,
    })
    expect(await measureInFlight(fixture.database.db, owner.relayer.id)).toEqual({
      counts: new Map(),
      reserved: 0n,
    })
    const now = new Date(fixture.clock.now())
    expect(await reservedBy(fixture.database.db, owner.relayer.id, { now })).toBe(0n)
    expect((await findQueueHeads(fixture.database.db, now)).map(({ id }) => id)).not.toContain(stored.id)
  })

  test('does not hide a gap behind it', async () => {
    const { owner, stub, look } = await startStory()
    await look()
    await insert(
      fixture.context,
      newTransaction(owner, { status: 'sent', sourceAccount: owner.relayer.address, nonce: 3n }),
    )
    await look()
    const gaps = await fixture.database.db
      .selectFrom('transactions')
      .select('nonce')
      .where('relayer_id', '=', owner.relayer.id)
      .where('purpose', '=', 'gap_filler')
      .execute()
    expect(gaps.map(({ nonce }) => nonce)).toEqual([1n, 2n])
    expect(stub.nonce).toEqual({ kind: 'ok', value: 1n })
  })

  test('is open again where the chain has given up the block that used its nonce', async () => {
    const { stored, owner, stub, look } = await startStory()
    await look()
    stub.nonce = { kind: 'ok', value: 0n }
    const { transaction } = await look()
    expect(transaction).toMatchObject({ status: 'submitted', nonce: 0n })
    expect(transaction.undecidedSince).toBeUndefined()
    expect(transaction.statusReason).toContain('no longer in the chain')
    const before = stub.broadcasted.length
    await workAccount(fixture.context, owner.relayer.id)
    expect(stub.broadcasted.length).toBeGreaterThan(before)
    expect((await reload(fixture.context, stored)).attempts).toHaveLength(1)
  })

  test('can be canceled and replaced without a signature, and says so; the change counts if nothing was included', async () => {
    const { stored, owner, stub, look, decide } = await startStory()
    const doubt = (await look()).transaction.statusReason ?? ''
    const replacer = createReplacer(fixture.context)
    const before = stub.broadcasted.length
    const replaced = await replacer.replace({
      relayer: owner.relayer,
      id: stored.id,
      request: requestOf({ value: 9n, speed: 'fast' }),
      actor: ACTOR,
    })
    expect(replaced.transaction).toMatchObject({
      status: 'submitted',
      purpose: 'successor',
      statusReason: `${doubt}. If it was not included, its replacement is sent.`,
    })
    expect(replaced.logs[0]).toContain('when it is decided that it was not')
    expect((await look()).transaction.statusReason).toBe(replaced.transaction.statusReason)
    const canceled = await replacer.cancel({ relayer: owner.relayer, id: stored.id, ...CANCELS })
    expect(canceled.transaction).toMatchObject({
      purpose: 'cancel',
      statusReason: `${doubt}. The caller canceled it, so it is not signed again.`,
    })
    expect((await look()).transaction.statusReason).toBe(canceled.transaction.statusReason)
    expect(stub.broadcasted).toHaveLength(before)
    await decide()
    expect(await look()).toMatchObject({ transaction: { status: 'canceled' }, attempts: [{ number: 1 }] })
  })

  test('whose replacement waits is replaced when it is decided that nothing was included', async () => {
    const { stored, owner, stub, look, decide } = await startStory()
    await look()
    await createReplacer(fixture.context).replace({
      relayer: owner.relayer,
      id: stored.id,
      request: requestOf({ value: 9n, speed: 'fast' }),
      actor: ACTOR,
    })
    await decide()
    expect((await look()).transaction).toMatchObject({ status: 'pending', purpose: 'successor' })
    stub.nonce = { kind: 'ok', value: 7n }
    fixture.clock.advance(60_000)
    await workAccount(fixture.context, owner.relayer.id)
    const { transaction, attempts } = await reload(fixture.context, stored)
    expect(transaction).toMatchObject({ status: 'submitted', nonce: 7n, request: { value: 9n } })
    expect(attempts.map(({ kind }) => kind)).toEqual(['send', 'replace'])
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
  const stranger = { transactionId: randomUUID(), included: false, reason: 'x', decidedBy: 'ada' }
  expect(await decideTransaction(fixture.database.db, stranger, DECIDING)).toBe('no_such_transaction')
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

test.each(['request', 'cancel'] as const)(
  'a nonce that a transaction used which no record knows leaves a %s undecided, where no other program has the key',
  async (purpose) => {
    const { stored, owner, story, stub, look, decide } = await startStory({ sharedAccount: false })
    story.proof = { kind: 'absent', usedBy: '0xother' }
    const before = stub.broadcasted.length
    await look()
    if (purpose === 'cancel')
      await createReplacer(fixture.context).cancel({ relayer: owner.relayer, id: stored.id, ...CANCELS })
    const { transaction } = await look()
    expect(transaction).toMatchObject({ status: 'submitted', purpose, undecidedSince: expect.any(Date) })
    expect(transaction.statusReason).toMatch(
      /^Nonce 0 was used by transaction 0xother that the records do not contain\./,
    )
    expect(stub.broadcasted).toHaveLength(before)
    expect(await incidentsOf(stored.id)).toEqual(['transaction_undecided'])
    await decide()
    expect((await look()).transaction.status).toBe(purpose === 'cancel' ? 'canceled' : 'pending')
  },
)
