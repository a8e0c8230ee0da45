import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  plainSigner,
  type Service,
  type Story,
  startService,
  storyOf,
  type Transaction,
} from '../support/service.ts'
import { until } from '../support/until.ts'
import { LIVE_TIMEOUT_MS, type LiveAccount } from './live-network.ts'
import { openNetwork } from './open-network.ts'

const network = await openNetwork()

const FINAL = ['confirmed', 'canceled', 'expired', 'failed']

/** Payments that are sent side by side. */
const MANY = 20

/** The shortest time that a payment may have: on Stellar two ledgers of five seconds, and a second. */
const SHORT_MS = { evm: 3_000, solana: 3_000, stellar: 12_000 } as const

let service: Service
let story: Story
let payer: LiveAccount
let receivers: readonly { readonly address: string; readonly opening: bigint }[]

beforeAll(async () => {
  payer = await network.newAccount()
  receivers = await Promise.all(
    [0, 1].map(async () => {
      const { address } = await network.newAccount()
      return { address, opening: await network.balanceOf(address) }
    }),
  )
  service = await startService({
    rpcUrls: [],
    networks: [network.entry],
    signers: [plainSigner('main', payer.key)],
    relayers: [
      { id: 'main', name: 'Main', network: network.name, network_type: network.type, signer_id: 'main' },
    ],
  })
  story = storyOf(service)
}, LIVE_TIMEOUT_MS)
afterAll(() => service.stop())

/** Reads the amounts that the two receivers have received so far. */
const received = () =>
  Promise.all(receivers.map(async ({ address, opening }) => (await network.balanceOf(address)) - opening))

/** Runs a story and tells what the two receivers got in it. */
async function gains(tell: () => Promise<Transaction>) {
  const before = await received()
  const final = await tell()
  // The balance of a node may be a block behind the receipt.
  await network.pass()
  const after = await received()
  return { final, got: after.map((amount, index) => amount - (before[index] ?? 0n)) }
}

const pay = (receiver: number, amount: bigint) =>
  network.transferBody(payer.address, receivers[receiver]?.address ?? '', amount)

const end = (id: string) =>
  until(
    () => story.get(id),
    ({ status }) => FINAL.includes(status),
    { timeoutMs: LIVE_TIMEOUT_MS },
  )

/** The hash that a confirmed record shows is one that the chain includes. */
async function expectIncluded({ hash }: Transaction): Promise<void> {
  const [receipt] = await network.chainAt(...network.rpcUrls).receipts([String(hash)])
  expect(receipt).toMatchObject({ kind: 'included', receipt: { success: true } })
}

describe(`the service on ${network.type}`, () => {
  test('a payment arrives once, and the record says so', async () => {
    const { final, got } = await gains(async () => end((await story.send(pay(0, 1_000n))).id))
    expect([final.status, got]).toEqual(['confirmed', [1_000n, 0n]])
    await expectIncluded(final)
  })

  test('of a payment and its replacement exactly one arrives, and it is the one that the record shows', async () => {
    await network.pass()
    let replaced = false
    const { final, got } = await gains(async () => {
      const { id } = await story.send(pay(0, 300n))
      const { status } = await story.replace(id, pay(1, 500n))
      expect([200, 400]).toContain(status)
      replaced = status === 200
      return end(id)
    })
    expect(final.status).toBe('confirmed')
    expect([[300n, 0n], ...(replaced ? [[0n, 500n]] : [])]).toContainEqual(got)
    await expectIncluded(final)
  })

  test('a canceled payment does not arrive, or the record says that it did', async () => {
    await network.pass()
    const { final, got } = await gains(async () => {
      const { id } = await story.send(pay(0, 700n))
      expect([200, 400]).toContain((await story.cancel(id)).status)
      return end(id)
    })
    expect([
      ['canceled', [0n, 0n]],
      ['confirmed', [700n, 0n]],
    ]).toContainEqual([final.status, got])
  })

  test('a payment whose time is short arrives, or expires without arriving', async () => {
    const { final, got } = await gains(async () => {
      const validUntil = new Date(Date.now() + SHORT_MS[network.type]).toISOString()
      const { id } = await story.send({ ...pay(0, 900n), valid_until: validUntil })
      return end(id)
    })
    expect([
      ['expired', [0n, 0n]],
      ['confirmed', [900n, 0n]],
    ]).toContainEqual([final.status, got])
  })

  test('many payments at once arrive once each', async () => {
    const before = await received()
    const sent = await Promise.all(
      Array.from({ length: MANY }, (_, index) => story.send(pay(0, BigInt(index + 1)))),
    )
    const finals = await Promise.all(sent.map(({ id }) => end(id)))
    await network.pass()
    expect(new Set(finals.map(({ status }) => status))).toEqual(new Set(['confirmed']))
    expect(new Set(finals.map(({ hash }) => hash)).size).toBe(MANY)
    expect(((await received())[0] ?? 0n) - (before[0] ?? 0n)).toBe(BigInt((MANY * (MANY + 1)) / 2))
  })
})
