import { afterEach, beforeEach, expect, test } from 'vitest'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import { addressOf, attemptOf, OTHER, requestOf, SELF, signingContextAt } from './build.ts'
import { type Stage, setStage, XLM } from './stage.ts'

let stage: Stage

beforeEach(async () => {
  stage = await setStage()
})

afterEach(() => stage.ledger.stop())

const EUR = { type: 'credit4', code: 'EUR', issuer: OTHER } as const
const XLM_ASSET = { type: 'native' } as const

/** Each operation has its effect on a ledger that reads real XDR. */
test('every classic operation passes the network', async () => {
  const operations: readonly StellarOperation[] = [
    { type: 'create_account', destination: addressOf('new'), starting_balance: 2n * XLM },
    { type: 'change_trust', asset: EUR, limit: 1_000n },
    { type: 'manage_data', name: 'greeting', value: Buffer.from('hello').toString('base64') },
    {
      type: 'set_options',
      home_domain: 'example.com',
      signer: { key: addressOf('third'), weight: 1 },
      set_flags: 1,
    },
    { type: 'payment', destination: OTHER, asset: XLM_ASSET, amount: 1n },
    {
      type: 'path_payment_strict_send',
      send_asset: XLM_ASSET,
      send_amount: 5n,
      destination: OTHER,
      dest_asset: XLM_ASSET,
      dest_min: 5n,
    },
    {
      type: 'path_payment_strict_receive',
      send_asset: XLM_ASSET,
      send_max: 7n,
      destination: OTHER,
      dest_asset: XLM_ASSET,
      dest_amount: 7n,
    },
    {
      type: 'create_claimable_balance',
      asset: XLM_ASSET,
      amount: 9n,
      claimants: [{ destination: OTHER, predicate: { not: { before_relative_time: 5n } } }],
    },
    { type: 'bump_sequence', bump_to: 0n },
  ]
  const request = requestOf({ operations })
  const before = stage.ledger.account(SELF)?.balance ?? 0n
  const hash = await stage.run(request)
  expect(await stage.chain.receipts([hash])).toMatchObject([{ kind: 'included', receipt: { success: true } }])
  expect(stage.ledger.account(addressOf('new'))?.balance).toBe(2n * XLM)
  expect(stage.ledger.account(SELF)?.homeDomain).toBe('example.com')
  const left = stage.ledger.account(SELF)?.balance ?? 0n
  expect(before - left).toBe(stage.chain.amountOut(request) + 900n)
})

test('an account that is merged gives everything away', async () => {
  await stage.run(requestOf({ operations: [{ type: 'account_merge', destination: OTHER }] }))
  expect(stage.ledger.account(SELF)).toBeUndefined()
  expect(stage.ledger.account(OTHER)?.balance).toBe(200n * XLM - 100n)
})

test('what can be spent is the balance without the reserve', async () => {
  expect(await stage.chain.balance(SELF)).toEqual({ kind: 'ok', value: 99n * XLM })
  await stage.run(requestOf({ operations: [{ type: 'manage_data', name: 'a', value: '' }] }))
  expect(await stage.chain.balance(SELF)).toEqual({ kind: 'ok', value: 99n * XLM - 100n - 5_000_000n })
})

test('a transaction whose time is over has to wait, until a ledger proves that it expired', async () => {
  const { time = new Date(0) } = await headOf()
  const validUntil = new Date(time.getTime() + 10_000)
  const draft = await stage.prepare(
    requestOf({ operations: [{ type: 'bump_sequence', bump_to: 0n }], validUntil }),
  )
  const signed = await stage.chain.sign(draft, signingContextAt(await stage.nonce()))
  stage.ledger.close({ seconds: 11 })
  expect(await stage.chain.broadcast([signed.raw])).toEqual([{ kind: 'later', detail: 'tx_too_late' }])
  const { expiredUpTo = 0n, number } = await headOf()
  expect(expiredUpTo).toBeGreaterThanOrEqual(draft.expiresAt ?? 0n)
  const attempt = attemptOf(draft, { nonce: await stage.nonce(), signed })
  expect(await stage.chain.proveInclusion([attempt], { asOf: number })).toEqual({ kind: 'absent' })
  expect(stage.chain.endsAt(requestOf({ validUntil }))).toEqual(validUntil)
})

async function headOf() {
  const answer = await stage.chain.head()
  if (answer.kind !== 'ok') throw new Error(answer.kind)
  return answer.value
}
