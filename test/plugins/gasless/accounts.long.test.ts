import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { authorizationOf, type BatchTerms, batchBy, soon } from './sign.ts'
import {
  type AccountName,
  CHAIN_ID,
  countCall,
  type GaslessSite,
  GENEROUS,
  networkOf,
  pluginEntry,
  RELAYER,
  startGaslessSite,
} from './site.ts'

let site: GaslessSite

beforeAll(async () => {
  site = await startGaslessSite({
    entries: (known) => [
      pluginEntry('gasless', { networks: [networkOf(known)], ...GENEROUS }),
      pluginEntry('any-chain', {
        networks: [networkOf(known, { any_chain_authorizations: true })],
        ...GENEROUS,
      }),
    ],
  })
}, 60_000)
afterAll(() => site.stop())

const KINDS: readonly AccountName[] = ['gelato', 'calibur', 'thirdweb', 'turnkey']

interface Status {
  readonly status: number
  readonly message?: string
  readonly receipt?: { readonly from: string; readonly type: string }
}

const ended = (id: Hex) =>
  until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return (await site.call<Status>('relayer_getStatus', { id })).result as Status
    },
    ({ status }) => status !== 100 && status !== 110,
  )
const refusal = async (content: object, mount?: string) =>
  (await site.call('relayer_sendTransaction', content, mount)).error
const two = () => [
  { to: site.stranger, data: countCall('increment') },
  { to: site.stranger, data: countCall('increment') },
]

describe.each(KINDS)('an account with the delegate of the kind %s', (kind) => {
  test('begins to delegate and makes its batch in one transaction, and makes the next one without a list', async () => {
    const user = site.user()
    const first = await site.send(await batchBy(site, kind, user, two()))
    const { status, receipt } = await ended(first)
    expect({ status, from: receipt?.from, type: receipt?.type }).toEqual({
      status: 200,
      from: RELAYER,
      type: '0x4',
    })
    expect(await site.countOf(site.stranger, user.address)).toBe(2n)
    const second = await site.send(await batchBy(site, kind, user, two(), { nonce: 1n, delegated: true }))
    expect((await ended(second)).status).toBe(200)
    expect(await site.countOf(site.stranger, user.address)).toBe(4n)
  })

  test('makes no batch that is signed for another account or chain, by another key, or a second time', async () => {
    const user = site.user()
    const code = async (terms: BatchTerms) =>
      (await refusal(await batchBy(site, kind, user, two(), terms)))?.code
    expect(await code({ chainId: CHAIN_ID + 1 })).toBe(4201)
    const other = site.user()
    const forOther = await batchBy(site, kind, other, two())
    const own = await batchBy(site, kind, user, two())
    // What another account has signed, sent to this one.
    expect(await refusal({ ...own, data: forOther.data })).toMatchObject({ code: 4201 })
    const id = await site.send(own)
    expect((await ended(id)).status).toBe(200)
    expect(await site.send(own)).toBe(id)
    // The same signature with another list is another content, whose nonce is used.
    const { authorizationList: _, ...again } = own
    const expected = kind === 'gelato' ? 4201 : 4211
    expect(await refusal(again)).toMatchObject({ code: expected })
    expect(await site.countOf(site.stranger, user.address)).toBe(2n)
  })

  test('is not called for a batch that fails, another function, padded data, or without the list that it needs', async () => {
    const user = site.user()
    const good = await batchBy(site, kind, user, two())
    expect(
      await refusal(await batchBy(site, kind, user, [{ to: site.stranger, data: countCall('fail') }])),
    ).toMatchObject({
      code: 4211,
    })
    expect(await refusal({ ...good, data: '0xa9059cbb' })).toMatchObject({ code: -32602 })
    expect(await refusal({ ...good, data: `${good.data}00` })).toMatchObject({ code: -32602 })
    const { authorizationList: _, ...bare } = good
    expect(await refusal(bare)).toMatchObject({ code: 4001, message: expect.stringContaining('no contract') })
  })

  test('is refused with an authorization that cannot apply', async () => {
    const user = site.user()
    const delegate = site.delegates[kind]
    const good = await batchBy(site, kind, user, two())
    const withList = async (authorizationList: readonly object[], mount?: string) =>
      refusal({ ...good, authorizationList }, mount)
    const wrong = [
      await authorizationOf(user, delegate, { nonce: 1 }),
      await authorizationOf(user, delegate, { chainId: 1 }),
      await authorizationOf(user, delegate, { chainId: 0 }),
      await authorizationOf(site.user(), delegate),
      await authorizationOf(user, site.stranger),
      await authorizationOf(user, '0x0000000000000000000000000000000000000000'),
      { ...(await authorizationOf(user, delegate)), s: `0x${'f'.repeat(64)}` },
      { ...(await authorizationOf(user, delegate)), yParity: '0x2' },
    ]
    for (const each of wrong) expect(await withList([each])).toMatchObject({ code: 4210 })
    const right = await authorizationOf(user, delegate)
    expect(await withList([right, right])).toMatchObject({ code: 4210 })
    const anywhere = await authorizationOf(user, delegate, { chainId: 0 })
    expect(await withList([anywhere], 'any-chain')).toBeUndefined()
  })
})

describe('an account', () => {
  test('of the relayer is never called, whatever it signed', async () => {
    const data = countCall('increment')
    expect(await refusal({ chainId: CHAIN_ID, to: RELAYER, data })).toMatchObject({
      code: 4001,
      message: expect.stringContaining('of this relayer'),
    })
  })

  test('that is a contract, or delegates to another one, is not called', async () => {
    const data = countCall('increment')
    expect(await refusal({ chainId: CHAIN_ID, to: site.stranger, data })).toMatchObject({ code: 4001 })
    const user = site.user()
    await site.anvil.rpc('anvil_setCode', [user.address, `0xef0100${site.stranger.slice(2)}`])
    const batch = await batchBy(site, 'gelato', user, two(), { delegated: true })
    expect(await refusal(batch)).toMatchObject({ code: 4001, message: expect.stringContaining('not listed') })
  })

  test('of another kind than the function is refused', async () => {
    const user = site.user()
    const { authorizationList } = await batchBy(site, 'turnkey', user, two())
    const { data } = await batchBy(site, 'gelato', user, two())
    expect(await refusal({ chainId: CHAIN_ID, to: user.address, data, authorizationList })).toMatchObject({
      code: -32602,
    })
  })

  test('of Calibur is refused where failures of calls would be hidden, for another sender, and after its deadline', async () => {
    const user = site.user()
    const code = async (terms: BatchTerms) =>
      (await refusal(await batchBy(site, 'calibur', user, two(), terms)))?.code
    expect(await code({ revertOnFailure: false })).toBe(-32602)
    expect(await code({ executor: site.stranger })).toBe(4001)
    expect(await code({ deadline: soon(20) })).toBe(4001)
  })

  test.each<[NonNullable<BatchTerms['form']>]>([['single'], ['fields'], ['batch'], ['calls']])(
    'of Turnkey executes the form %s',
    async (form) => {
      const user = site.user()
      const [one] = two()
      const id = await site.send(await batchBy(site, 'turnkey', user, one ? [one] : [], { form }))
      expect((await ended(id)).status).toBe(200)
      expect(await site.countOf(site.stranger, user.address)).toBe(1n)
    },
  )

  test('pays what it sends itself, and the relayer sends no coins', async () => {
    const user = site.user()
    await site.transact({ to: user.address, value: '0x10' })
    const receiver = site.user().address
    const id = await site.send(
      await batchBy(site, 'gelato', user, [{ to: receiver, value: 16n, data: '0x' }]),
    )
    expect((await ended(id)).status).toBe(200)
    expect(BigInt(await site.anvil.rpc<string>('eth_getBalance', [receiver, 'latest']))).toBe(16n)
    const transactions = (await site.service.api<{ value: string }[]>('GET', '/transactions?relayer_id=main'))
      .body.data
    expect(new Set(transactions.map(({ value }) => value))).toEqual(new Set(['0']))
  })
})
