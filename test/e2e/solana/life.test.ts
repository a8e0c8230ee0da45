import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  RECEIVER,
  type SolanaScenario,
  startSolanaScenario,
  transfer,
} from '../../support/solana-scenario.ts'

let scenario: SolanaScenario

beforeAll(async () => {
  scenario = await startSolanaScenario()
}, 60_000)

afterAll(() => scenario.stop())

const lamportsOf = (address: string) => scenario.solana.account(address)?.lamports ?? 0n

/** Blocks until everything that was signed so far has lapsed at finalized commitment. */
function letExpire() {
  scenario.solana.dropPending()
  scenario.solana.tick(160)
}

/** After this many blocks a transaction that waited is in a confirmed one, and far from final. */
const UNTIL_MINED = 3

describe('a transfer', () => {
  test('is sent, included, and final, and the record says so at each step', async () => {
    const before = lamportsOf(RECEIVER)
    const { id } = await scenario.send(transfer(1_000n))
    const submitted = await scenario.reach(id, 'submitted')
    scenario.solana.tick(UNTIL_MINED)
    const mined = await scenario.reach(id, 'mined')
    const confirmed = await scenario.tickUntil(id, 'confirmed')
    expect(mined.hash).toBe(submitted.hash)
    expect(scenario.solana.included(String(confirmed.hash))).toBeDefined()
    expect(lamportsOf(RECEIVER)).toBe(before + 1_000n)
  })

  test('that is asked for twice is made twice', async () => {
    const before = lamportsOf(RECEIVER)
    const sent = await Promise.all([1, 2, 3, 4].map(() => scenario.send(transfer(7n))))
    const ended = await Promise.all(sent.map(({ id }) => scenario.tickUntil(id, 'confirmed')))
    expect(new Set(ended.map(({ hash }) => hash)).size).toBe(4)
    expect(lamportsOf(RECEIVER)).toBe(before + 28n)
  })

  test('that no block includes in its time is signed again', async () => {
    const before = lamportsOf(RECEIVER)
    const { id } = await scenario.send(transfer(11n))
    const first = await scenario.reach(id, 'submitted')
    letExpire()
    const reSigned = await scenario.tickUntil(id, 'confirmed')
    expect(reSigned.attempts).toMatchObject([
      { number: 1, kind: 'send', outcome: 'expired' },
      { number: 2, kind: 're_sign', outcome: 'mined' },
    ])
    expect(reSigned.hash).not.toBe(first.hash)
    expect(lamportsOf(RECEIVER)).toBe(before + 11n)
  })

  test('whose block a fork drops is broadcast again and executed once', async () => {
    const before = lamportsOf(RECEIVER)
    const { id } = await scenario.send(transfer(13n))
    const submitted = await scenario.reach(id, 'submitted')
    scenario.solana.tick(UNTIL_MINED)
    await scenario.reach(id, 'mined')
    scenario.solana.fork(UNTIL_MINED)
    expect(scenario.solana.included(String(submitted.hash))).toBeUndefined()
    const confirmed = await scenario.tickUntil(id, 'confirmed')
    expect(confirmed.hash).toBe(submitted.hash)
    expect(lamportsOf(RECEIVER)).toBe(before + 13n)
  })
})

describe('a replacement', () => {
  test('is sent when the earlier one can no longer be included', async () => {
    const before = lamportsOf(RECEIVER)
    const { id } = await scenario.send(transfer(100n))
    const first = await scenario.reach(id, 'submitted')
    const answer = await scenario.replace(id, transfer(200n))
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({ id, status: 'submitted', hash: first.hash })
    expect(answer.body.metadata?.logs[0]?.message).toContain('Both versions could be included')
    letExpire()
    const confirmed = await scenario.tickUntil(id, 'confirmed')
    expect(confirmed.attempts).toMatchObject([{ kind: 'send' }, { kind: 'replace', outcome: 'mined' }])
    expect(lamportsOf(RECEIVER)).toBe(before + 200n)
  })

  test('has lost when the earlier one is included after all', async () => {
    const before = lamportsOf(RECEIVER)
    const { id } = await scenario.send(transfer(300n))
    const first = await scenario.reach(id, 'submitted')
    await scenario.replace(id, transfer(400n))
    const confirmed = await scenario.tickUntil(id, 'confirmed')
    expect(confirmed.hash).toBe(first.hash)
    expect(confirmed.status_reason).toBe('Attempt 1 was included before its replacement, which has lost.')
    scenario.solana.tick(170)
    expect((await scenario.get(id)).attempts).toHaveLength(1)
    expect(lamportsOf(RECEIVER)).toBe(before + 300n)
  })

  test('that could not be executed is refused immediately, and changes nothing', async () => {
    const { id } = await scenario.send(transfer(1n))
    await scenario.reach(id, 'submitted')
    const answer = await scenario.replace(id, transfer(10n ** 15n))
    expect([answer.status, answer.body.code]).toEqual([400, 'insufficient_balance'])
    const confirmed = await scenario.tickUntil(id, 'confirmed')
    expect(confirmed.status_reason).toBeUndefined()
  })
})

describe('a cancellation', () => {
  test('ends it when the chain has proved that it was not included', async () => {
    const before = lamportsOf(RECEIVER)
    const { id } = await scenario.send(transfer(500n))
    await scenario.reach(id, 'submitted')
    const answer = await scenario.cancel(id)
    expect([answer.status, answer.body.data.status]).toEqual([200, 'submitted'])
    letExpire()
    const canceled = await scenario.tickUntil(id, 'canceled')
    expect(canceled.attempts).toHaveLength(1)
    expect(lamportsOf(RECEIVER)).toBe(before)
  })

  test('has lost when it is included first', async () => {
    const { id } = await scenario.send(transfer(600n))
    await scenario.reach(id, 'submitted')
    await scenario.cancel(id)
    const confirmed = await scenario.tickUntil(id, 'confirmed')
    expect(confirmed.status_reason).toContain('its cancellation, which has lost')
  })
})
